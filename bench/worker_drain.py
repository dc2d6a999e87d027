"""Drain measured by the workers' own ticks, the same way for Orbit and each peer."""

import shutil
import sys
import tempfile
import time
from pathlib import Path

from bench import ticks
from bench.contest import Kind, Round
from bench.processes import Children
from bench.servers import Database, Servers

BINARIES = Path(sys.executable).parent
START_LIMIT = 30.0


class WorkerDrain:
    """Fills a queue, starts worker processes, counts what they finish.

    `module` is run as `python -m module fill N` (which also makes the schema) before
    the workers start. `processes` is how many will tick.
    """

    def __init__(
        self,
        *,
        name: str,
        kind: Kind,
        config: str,
        module: str,
        workers: list[list[str]],
        expected: int,
        processes: int = 2,
        environment: dict[str, str] | None = None,
    ) -> None:
        self.name = name
        self.kind = kind
        self.config = config
        self.module = module
        self.workers = workers
        self.expected = expected
        self.processes = processes
        self.environment = environment or {}
        self.children: Children | None = None
        self.folder = Path()

    def setup(self, servers: Servers, *, seconds: float) -> None:
        """Fill the queue with more than the workers can finish."""
        self.folder = Path(tempfile.mkdtemp(prefix="orbit-bench-ticks-"))
        servers.flush()
        database, variables = self.prepare(servers)
        self.children = Children(
            {"BENCH_TICKS": str(self.folder), **variables, **self.environment}
        )
        self.fill(count=int(self.expected * (seconds + 1)))
        database.execute("vacuum analyze")
        servers.checkpoint()

    def prepare(self, servers: Servers) -> tuple[Database, dict[str, str]]:
        """A fresh database, and the variables by which the workers find it."""
        database = servers.database("drain")
        return database, {
            "BENCH_DATABASE_URL": database.url,
            "BENCH_REDIS_URL": servers.redis_url(),
        }

    def fill(self, *, count: int) -> None:
        """Put so many tasks in the queue."""
        assert self.children
        self.children.run(sys.executable, "-m", self.module, "fill", str(count))

    def run(self, *, seconds: float) -> Round:
        """Rate between the last worker's first task and the end of the time."""
        assert self.children
        for command in self.workers:
            self.children.start([_program(command[0]), *command[1:]])
        until = time.monotonic() + START_LIMIT
        while ticks.started(self.folder) < self.processes:
            self.children.check()
            if time.monotonic() > until:
                raise RuntimeError(f"{self.name}: {self.children.output()}")
            time.sleep(0.02)
        time.sleep(seconds)
        return Round(rate=ticks.rate(self.folder, until=time.monotonic()))

    def teardown(self) -> None:
        """Stop the workers and forget their ticks."""
        if self.children:
            self.children.stop()
        shutil.rmtree(self.folder, ignore_errors=True)


def _program(name: str) -> str:
    """Console scripts are taken from the environment that runs the benchmark."""
    return sys.executable if name == "python" else str(BINARIES / name)
