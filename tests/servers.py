"""Starts PostgreSQL and Valkey for the suite, before Django reads its settings.

Loaded by `-p tests.servers`. ORBIT_TEST_DATABASE_URL (of a superuser) and
ORBIT_TEST_REDIS_URL name servers that run already; else both are started once, by
the controller under pytest-xdist, and ended with it however it ends.
"""

import os
import secrets
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from orbit.stack import warden
from orbit.stack.places import remove_home
from orbit.stack.ports import free_port
from orbit.stack.postgres import FAST, Postgres, embedded, wait_for_postgres
from orbit.stack.processes import Process, below, kill_all
from orbit.stack.valkey import Valkey, wait_for_redis

DATABASE = "ORBIT_TEST_DATABASE_URL"
REDIS = "ORBIT_TEST_REDIS_URL"


class Session:
    """What this pytest process has started, and ends again."""

    def __init__(self) -> None:
        self.instance = f"tests.{secrets.token_hex(8)}"
        self.warden: subprocess.Popen[bytes] | None = None
        self.scratch: Path | None = None
        self.servers: list[RunningServer] = []

    def guarded(self) -> str:
        """The mark for a process that must not outlive this one."""
        self.appoint()
        return self.instance

    def directory(self) -> Path:
        """A new directory that is gone after the session, however that ends."""
        return Path(tempfile.mkdtemp(dir=self.appoint()))

    def appoint(self) -> Path:
        """Have a warden; answers the directory that it deletes."""
        if self.scratch is None:
            # Not below pytest's own directory: PostgreSQL's account cannot get there,
            # and a Unix socket needs a short path.
            self.scratch = Path(tempfile.mkdtemp(prefix="orbit-test-"))
            self.scratch.chmod(0o711)
            self.warden = warden.appoint(self.instance, scratch=self.scratch)
        return self.scratch

    def end(self) -> None:
        """End every server and process, and remove their files."""
        for server in self.servers:
            server.remove()
        self.servers.clear()
        if self.warden:
            warden.dismiss(self.warden)
            self.warden = self.scratch = None


SESSION = Session()


class RunningServer:
    """One server process that a test may freeze, kill, stop and start again."""

    def __init__(self) -> None:
        self.directory = SESSION.directory()
        self.process: Process | None = None
        SESSION.servers.append(self)

    @property
    def pid(self) -> int:
        """The id of the server process."""
        assert self.process is not None
        return self.process.pid

    def stop(self) -> None:
        """End it in good order."""
        if self.process:
            self.process.stop()

    def kill(self) -> None:
        """End it at once, as a crash does; start() brings it back."""
        assert self.process is not None
        family = below(self.pid)
        os.kill(self.pid, signal.SIGKILL)
        kill_all(family)
        self.process.popen.wait()

    def freeze(self) -> None:
        """Stop it answering without ending it, until thaw()."""
        for process in below(self.pid):
            process.suspend()

    def thaw(self) -> None:
        """Let it go on after freeze()."""
        for process in below(self.pid):
            process.resume()

    def remove(self) -> None:
        """End it and delete its files."""
        if self.process and self.process.exit_code() is None:
            self.process.kill()
        remove_home(self.directory)
        shutil.rmtree(self.directory)


class PostgresServer(RunningServer):
    """A private PostgreSQL; `url` is the superuser's."""

    def __init__(self, settings: Mapping[str, str] = FAST) -> None:
        super().__init__()
        self.postgres: Postgres = embedded(
            self.directory, password=secrets.token_hex(8), settings=settings
        )
        self.start()

    def start(self) -> None:
        """Start it, after a stop or a kill too, and wait until it answers."""
        self.postgres.clear_stale_lock()
        self.process = Process(
            self.postgres.command(),
            instance=SESSION.guarded(),
            output=subprocess.DEVNULL,
        )
        wait_for_postgres(
            self.url("postgres"), within=90, exited=self.process.exit_code
        )

    def url(self, database: str = "orbit") -> str:
        """The superuser's address of a database, which need not exist."""
        return self.postgres.superuser_url(database)


class ValkeyServer(RunningServer):
    """A private Valkey."""

    def __init__(self) -> None:
        super().__init__()
        self.valkey = Valkey(
            home=self.directory / "valkey",
            password=secrets.token_hex(8),
            port=free_port(),
            durable=False,
        )
        self.start()

    def start(self) -> None:
        """Start it, after a stop or a kill too, and wait until it answers."""
        self.process = Process(
            self.valkey.command(),
            instance=SESSION.guarded(),
            output=subprocess.DEVNULL,
        )
        wait_for_redis(self.url(), within=90, exited=self.process.exit_code)

    def url(self, database: int = 0) -> str:
        """The address of one of its databases."""
        return self.valkey.url(database=database)


def database_of_this_worker() -> int:
    """Each xdist worker counts and locks in a Redis database of its own."""
    worker = os.environ.get("PYTEST_XDIST_WORKER", "")
    return int(worker.removeprefix("gw")) % 14 + 1 if worker else 0


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests() -> None:
    """Come before pytest-django, which imports the settings at this point."""
    if DATABASE not in os.environ:
        os.environ[DATABASE] = PostgresServer().url()
    if REDIS not in os.environ:
        os.environ[REDIS] = ValkeyServer().url()
    redis = urlsplit(os.environ[REDIS])
    os.environ.update(
        DATABASE_URL=os.environ[DATABASE],
        REDIS_URL=redis._replace(path=f"/{database_of_this_worker()}").geturl(),
        ORBIT_SECRET_KEY="a secret key that only the tests know",
        ORBIT_TOKEN_PEPPERS="p1:a pepper that nobody but the tests knows",
        # No thread writes behind the back of a test.
        ORBIT_CALL_LOG_INTERVAL_MS="0",
    )
    for name in ("ORBIT_SECRET_KEY_FILE", "ORBIT_TOKEN_PEPPERS_FILE", "ORBIT_BASE_URL"):
        os.environ.pop(name, None)


@pytest.hookimpl(trylast=True)
def pytest_unconfigure() -> None:
    """End what this process started; the warden does it after a kill."""
    SESSION.end()


@pytest.fixture
def own_postgres():
    """A PostgreSQL that this test alone uses, and may kill, freeze and start again."""
    server = PostgresServer()
    yield server
    SESSION.servers.remove(server)
    server.remove()


@pytest.fixture
def own_valkey():
    """A Valkey that this test alone uses, and may kill, freeze and start again."""
    server = ValkeyServer()
    yield server
    SESSION.servers.remove(server)
    server.remove()
