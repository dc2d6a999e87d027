"""Orbit's drain: two worker processes on one queue."""

from bench.orbit.project import PREPARED, environment
from bench.servers import Database, Servers
from bench.worker_drain import WorkerDrain


class OrbitDrain(WorkerDrain):
    """Workers that claim, do nothing, and report, `batch` tasks a turn."""

    def __init__(self, *, name: str, batch: int, expected: int) -> None:
        super().__init__(
            name=name,
            kind="orbit",
            config=f"two processes, claim and report {batch} a turn",
            module="bench.orbit.worker",
            workers=[["python", "-m", "bench.orbit.worker", "work", str(batch)]] * 2,
            expected=expected,
        )

    def prepare(self, servers: Servers) -> tuple[Database, dict[str, str]]:
        """A fresh copy of the migrated database."""
        database, place = PREPARED.database(servers, name="drain")
        variables = environment(database, servers)
        return database, {**variables, "BENCH_PLACE": place.dump()}
