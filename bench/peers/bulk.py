"""Procrastinate's bulk insert, timed in its own process."""

import sys

from bench.contest import Kind, Round
from bench.processes import Children
from bench.servers import Servers


class ProcrastinateBulk:
    """`batch_defer_async`, one producer."""

    name = "Procrastinate, batch_defer"
    kind: Kind = "peer"

    def __init__(self, *, size: int) -> None:
        self.size = size
        self.config = f"one producer in process, {size} jobs a call, psycopg"
        self.children: Children | None = None

    def setup(self, servers: Servers, *, seconds: float) -> None:  # noqa: ARG002
        """An empty schema."""
        database = servers.database("bulk")
        self.children = Children({"BENCH_DATABASE_URL": database.url})
        self._call("fill", 0)

    def run(self, *, seconds: float) -> Round:
        """The producer measures itself."""
        return Round(rate=float(self._call("produce", self.size, seconds)))

    def teardown(self) -> None:
        """Nothing runs on."""

    def _call(self, verb: str, *arguments: float) -> bytes:
        assert self.children
        module = "bench.peers.procrastinate_postgres"
        return self.children.run(
            sys.executable, "-m", module, verb, *map(str, arguments)
        )
