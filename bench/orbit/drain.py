"""Orbit's drain: two worker processes on one queue."""

from bench.orbit.project import PREPARED, environment
from bench.servers import Database, Servers
from bench.web import CONFIG, Web
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


class SDKDrain(OrbitDrain):
    """Workers that are the SDK's, over HTTP to Orbit's web processes."""

    def __init__(self, *, name: str, batch: int, expected: int) -> None:
        super().__init__(name=name, batch=batch, expected=expected)
        self.config = f"two SDK workers, batch {batch}; {CONFIG}"
        self.workers = [
            ["python", "-m", "bench.orbit.sdk_worker", "work", str(batch)]
        ] * 2

    def setup(self, servers: Servers, *, seconds: float) -> None:
        """As in process, and start the web processes."""
        super().setup(servers, seconds=seconds)
        assert self.children
        web = Web(application="orbit.wsgi:application", children=self.children)
        web.wait(path="/livez")
        self.children.environment["BENCH_URL"] = f"http://127.0.0.1:{web.port}"
        self.children.environment["PYTHONPATH"] += ":sdk"
