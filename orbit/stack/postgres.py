"""The embedded PostgreSQL: a data directory, and the command that serves it."""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote, urlencode

import psutil
import psycopg
from psycopg import sql

from orbit.stack import places
from orbit.stack.accounts import Account, database_account
from orbit.stack.failures import StackFailure
from orbit.stack.ports import LOOPBACK, free_port
from orbit.stack.processes import Command, below, kill_all

SUPERUSER = "postgres"
SOCKET_NAME = ".s.PGSQL.5432"
SOCKET_PATH_LIMIT = 103  # bytes; Linux takes 107, macOS 103

DURABLE: Mapping[str, str] = {
    "max_connections": "200",
    "shared_buffers": "256MB",
    "effective_cache_size": "1GB",
    "wal_buffers": "16MB",
    "min_wal_size": "256MB",
    "max_wal_size": "2GB",
    "checkpoint_completion_target": "0.9",
    "random_page_cost": "1.1",
    "fsync": "on",
    "synchronous_commit": "on",
    "full_page_writes": "on",
    "log_checkpoints": "off",
    "log_min_messages": "log",
}
FAST: Mapping[str, str] = {  # for tests: a crash of the machine may lose everything
    **DURABLE,
    "shared_buffers": "128MB",
    "fsync": "off",
    "full_page_writes": "off",
}


SOCKET_PORT = 5432


@dataclass(frozen=True, kw_only=True)
class Postgres:
    """A PostgreSQL 18 on a Unix socket, or on 127.0.0.1 where its path is too long."""

    home: Path
    password: str
    account: Account | None
    programs: Path
    settings: Mapping[str, str] = field(default_factory=lambda: DURABLE)
    port: int | None = None

    @property
    def data(self) -> Path:
        """The data directory."""
        return self.home / "data"

    def initialise(self) -> None:
        """Make the data directory unless it is there already."""
        if (self.data / "PG_VERSION").exists():
            return
        part = self.home / "data.part"
        if part.exists():  # a start that was killed
            shutil.rmtree(part)
        unsynced = ["--no-sync"] if self.settings["fsync"] == "off" else []
        with tempfile.NamedTemporaryFile(mode="w", suffix=".pw") as secret:
            secret.write(self.password)
            secret.flush()
            if self.account:
                os.chown(secret.name, self.account.uid, self.account.gid)
            self._run(
                "initdb",
                *("-D", str(part), "-U", SUPERUSER, "--pwfile", secret.name),
                *("--auth=scram-sha-256", "--encoding=UTF8", "--locale=C"),
                *("--locale-provider=builtin", "--builtin-locale=C.UTF-8"),
                *("--no-instructions", *unsynced),
            )
        part.rename(self.data)

    def command(self) -> Command:
        """Serve the data directory; SIGINT is its quick clean stop."""
        settings = {
            **self.settings,
            "listen_addresses": LOOPBACK if self.port else "",
            "port": str(self.port or SOCKET_PORT),
            "unix_socket_directories": "" if self.port else str(self.home),
        }
        pairs = [f"{name}={value}" for name, value in settings.items()]
        return Command(
            name="postgres",
            argv=(
                str(self.programs / "postgres"),
                *("-D", str(self.data)),
                *(word for pair in pairs for word in ("-c", pair)),
            ),
            account=self.account,
            stop_signal=signal.SIGINT,
        )

    def url(self, *, user: str, password: str, database: str) -> str:
        """The address of one database for one role."""
        who = f"{quote(user)}:{quote(password)}"
        if self.port:
            return f"postgresql://{who}@{LOOPBACK}:{self.port}/{quote(database)}"
        # The port is said too, lest a PGPORT of the caller's be taken for it.
        where = urlencode({"host": str(self.home), "port": SOCKET_PORT}, safe="/")
        return f"postgresql://{who}@/{quote(database)}?{where}"

    def superuser_url(self, database: str = "postgres") -> str:
        """The address of one database for the superuser."""
        return self.url(user=SUPERUSER, password=self.password, database=database)

    def provide(self, *, role: str, password: str, database: str) -> None:
        """An ordinary role with this password, and a database that it owns."""
        with psycopg.connect(self.superuser_url(), autocommit=True) as connection:
            query = "SELECT 1 FROM pg_roles WHERE rolname = %s"
            known = connection.execute(query, [role]).fetchone()
            verb = sql.SQL("ALTER" if known else "CREATE")
            connection.execute(
                sql.SQL("{} ROLE {} LOGIN PASSWORD {}").format(
                    verb, sql.Identifier(role), sql.Literal(password)
                )
            )
            query = "SELECT 1 FROM pg_database WHERE datname = %s"
            if not connection.execute(query, [database]).fetchone():
                connection.execute(
                    sql.SQL("CREATE DATABASE {} OWNER {}").format(
                        sql.Identifier(database), sql.Identifier(role)
                    )
                )

    def clear_stale_lock(self) -> None:
        """End a server left from a killed stack and remove the pid file it kept.

        Only for the holder of the state directory: nobody else may be serving it.
        """
        lock = self.data / "postmaster.pid"
        if not lock.exists():
            return
        left = [it for it in below(int(lock.read_text().split()[0])) if _serves(it)]
        kill_all(left)
        lock.unlink(missing_ok=True)

    def _run(self, program: str, *arguments: str) -> None:
        account = self.account
        done = subprocess.run(
            [str(self.programs / program), *arguments],
            user=account.uid if account else None,
            group=account.gid if account else None,
            extra_groups=[] if account else None,
            cwd="/",
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise StackFailure(f"{program} failed: {done.stderr.strip()}")


def embedded(
    state: Path, *, password: str, settings: Mapping[str, str] = DURABLE
) -> Postgres:
    """The PostgreSQL of a state directory, its data directory made if need be."""
    account = database_account()
    home = places.database_home(state, account=account)
    fits = len(os.fsencode(home / SOCKET_NAME)) <= SOCKET_PATH_LIMIT
    postgres = Postgres(
        home=home,
        password=password,
        account=account,
        programs=places.programs(account=account),
        settings=settings,
        port=None if fits else free_port(),
    )
    postgres.initialise()
    return postgres


def wait_for_postgres(
    url: str, *, within: float, exited: Callable[[], int | None] = lambda: None
) -> None:
    """Return when the server answers; StackFailure when it ended or stayed silent."""
    end = time.monotonic() + within
    while True:
        try:
            psycopg.connect(url, connect_timeout=2).close()
        except psycopg.OperationalError as error:
            if exited() is not None or time.monotonic() > end:
                reason = str(error).strip()
                raise StackFailure(f"PostgreSQL does not answer: {reason}") from error
            time.sleep(0.03)
        else:
            return


def _serves(process: psutil.Process) -> bool:
    try:
        return process.name() == "postgres"
    except psutil.Error:
        return False
