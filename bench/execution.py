"""Executions by Celery workers: how many, and how soon each is picked up.

Two solo workers drain a full queue; then what is left is thrown away, and an open loop
sends at half the rate just measured.
"""

import sys
import time

import redis

from bench import ticks
from bench.contest import Round
from bench.orbit.project import PREPARED, environment
from bench.servers import Database, Servers
from bench.worker_drain import WorkerDrain

SOLO = [
    "--pool=solo",
    "--without-gossip",
    "--without-mingle",
    "--without-heartbeat",
]
WORKERS = 2
HALF = 0.5
SETTLE_SECONDS = 0.5  # for what the workers hold, and for the last that was sent
HOW = "two solo workers, acks_late, prefetch 1; p50 and p99: pick-up at half load"


def workers(*, app: str) -> list[list[str]]:
    """The commands of the stack, for another application."""
    return [
        ["celery", "--quiet", "-A", app, "worker", *SOLO, "-n", f"worker-{n}@bench"]
        for n in range(WORKERS)
    ]


class CeleryExecutions(WorkerDrain):
    """Bare no-op tasks."""

    queue = "celery"

    def setup(self, servers: Servers, *, seconds: float) -> None:
        """Fill the queue."""
        super().setup(servers, seconds=seconds)
        self.broker = redis.Redis.from_url(servers.redis_url())

    def run(self, *, seconds: float) -> Round:
        """The rate of the drain, the waits of the half load."""
        assert self.children
        drained = super().run(seconds=seconds)
        self.broker.delete(self.queue)
        time.sleep(SETTLE_SECONDS)
        since = time.monotonic()
        rate = str(drained.rate * HALF)
        self.children.run(sys.executable, "-m", self.module, "pace", rate, str(seconds))
        time.sleep(SETTLE_SECONDS)
        waits = ticks.waits_ms(self.folder, since=since)
        return Round(rate=drained.rate, latencies_ms=waits)


class OrbitExecutions(CeleryExecutions):
    """Executions of a no-op job, through the product's own worker."""

    queue = "orbit"

    def prepare(self, servers: Servers) -> tuple[Database, dict[str, str]]:
        """A fresh copy of the prepared database."""
        database, place = PREPARED.database(servers, name="execution")
        variables = environment(database, servers)
        return database, {**variables, "BENCH_PLACE": place.dump()}


def bare() -> CeleryExecutions:
    """Celery on its own."""
    return CeleryExecutions(
        name="Celery (Redis), no-op",
        kind="peer",
        expected=4000,
        config=HOW,
        module="bench.peers.celery_execution",
        workers=workers(app="bench.peers.celery_execution"),
    )


def orbit() -> OrbitExecutions:
    """Orbit through Celery."""
    return OrbitExecutions(
        name="Orbit",
        kind="orbit",
        expected=600,
        config=HOW,
        module="bench.orbit.jobs",
        workers=workers(app="orbit"),
    )
