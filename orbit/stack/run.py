"""What `manage.py runstack` does: everything of Orbit on this machine, until Ctrl-C."""

import argparse
import http.client
import os
import socket
import sys
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Self

from orbit.stack import application, servers
from orbit.stack.failures import StackFailure
from orbit.stack.ports import LOOPBACK, listen
from orbit.stack.state import DEMO, STACK, StateDirectory
from orbit.stack.supervisor import Child, StopAsked, Supervisor, say

ADMIN = "admin"
WEB_PATIENCE = 60.0


@dataclass(frozen=True, kw_only=True)
class Options:
    """What the command line says."""

    port: int
    state_dir: Path
    workers: int
    demo: bool

    @classmethod
    def parsed(cls, found: argparse.Namespace) -> Self:
        """The options among those that a parser found."""
        return cls(
            port=found.port,
            state_dir=found.state_dir,
            workers=found.workers,
            demo=found.demo,
        )


@dataclass(frozen=True, kw_only=True)
class Running:
    """A stack that is ready, and what stack.json says of it."""

    base_url: str
    database_url: str
    redis_url: str
    admin_password: str
    demo: application.Demo | None
    web: Child
    maintenance: Child
    workers: list[Child]
    beat: Child
    ledger: Child | None
    postgres: Child | None
    redis: Child | None

    def described(self) -> dict[str, object]:
        """The content of stack.json at this moment."""
        one = {
            "web": self.web,
            "maintenance": self.maintenance,
            "beat": self.beat,
            "ledger": self.ledger,
            "postgres": self.postgres,
            "redis": self.redis,
        }
        return {
            "base_url": self.base_url,
            "database_url": self.database_url,
            "redis_url": self.redis_url,
            "admin": {"username": ADMIN, "password": self.admin_password},
            "processes": {
                **{name: child.process.pid for name, child in one.items() if child},
                "workers": [child.process.pid for child in self.workers],
            },
            **({"demo": asdict(self.demo)} if self.demo else {}),
        }

    def ready_line(self) -> str:
        """The addresses and credentials that a newcomer needs."""
        tokens = self.demo.tokens if self.demo else {}
        parts = [
            f"ready: {self.base_url}/",
            f"{self.base_url}/admin/ as {ADMIN} with {self.admin_password}",
            *(f"{name} token {token}" for name, token in tokens.items()),
        ]
        return " · ".join(parts)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of runstack."""
    add = parser.add_argument
    add("--port", type=int, default=8000, help="default 8000; 0 takes a free one")
    add("--state-dir", type=Path, default=Path(".orbit"), help="default .orbit")
    add("--workers", type=int, default=2, help="Celery worker processes (default 2)")
    add("--no-demo", dest="demo", action="store_false", help="without demo data")


def main(arguments: Sequence[str]) -> int:
    """Run the stack that the arguments describe; answers the exit code."""
    parser = argparse.ArgumentParser(prog="manage.py runstack", description=__doc__)
    add_arguments(parser)
    return run(Options.parsed(parser.parse_args(arguments)))


def run(options: Options) -> int:
    """Run the stack until it is asked to stop: 0, or 1 when it could not start."""
    try:
        state = StateDirectory(options.state_dir)
        with Supervisor(state_mark=state.secret("mark")[:16]) as supervisor:
            _run_in(state, supervisor, options)
    except StopAsked as asked:
        say("orbit", f"stopped by {asked}")
        return 0
    except StackFailure as failure:
        sys.stderr.write(f"runstack: {failure}\n")
        return 1
    return 0


def _run_in(state: StateDirectory, supervisor: Supervisor, options: Options) -> None:
    state.remove(STACK)
    with closing(_listen(options.port)) as listener:
        running = _start(state, supervisor, options, listener)

        def write() -> None:
            state.write(STACK, running.described())

        try:
            write()
            say("orbit", running.ready_line())
            supervisor.keep(changed=write)
        finally:
            state.remove(STACK)


def _start(
    state: StateDirectory,
    supervisor: Supervisor,
    options: Options,
    listener: socket.socket,
) -> Running:
    base_url = f"http://{LOOPBACK}:{listener.getsockname()[1]}"
    say("orbit", f"starting in {state.path}")
    database_url, postgres = servers.database(supervisor, state)
    redis_url, redis = servers.cache(supervisor, state)
    _share(
        DATABASE_URL=database_url,
        REDIS_URL=redis_url,
        ORBIT_BASE_URL=base_url,
        ORBIT_SECRET_KEY=state.secret("secret_key"),
        ORBIT_TOKEN_PEPPERS=f"p1:{state.secret('token_pepper')}",
        DJANGO_SETTINGS_MODULE="orbit.settings",
        PYTHONUNBUFFERED="1",
    )
    password = os.environ.get("ORBIT_ADMIN_PASSWORD") or state.secret("admin")[:24]
    supervisor.run(
        application.prepare(
            demo_file=state.path / DEMO if options.demo else None,
            admin_password=password,
        )
    )
    demo = _demo(state) if options.demo else None
    web, maintenance = supervisor.start(
        application.web(listener=listener.fileno()), application.maintenance()
    )
    _wait_for_web(listener, web)
    ledger = state.path / "ledger.jsonl"
    beat, *workers = supervisor.start(
        application.beat(),
        *(
            application.worker(number=number, ledger=ledger)
            for number in range(1, options.workers + 1)
        ),
    )
    demo_workers = (
        [application.ledger_worker(demo, base_url=base_url, ledger=ledger)]
        if demo
        else []
    )
    return Running(
        base_url=base_url,
        database_url=database_url,
        redis_url=redis_url,
        admin_password=password,
        demo=demo,
        web=web,
        maintenance=maintenance,
        workers=workers,
        beat=beat,
        ledger=next(iter(supervisor.start(*demo_workers)), None),
        postgres=postgres,
        redis=redis,
    )


def _share(**variables: str) -> None:
    """Give the children these variables; those that the caller has set win."""
    for name, value in variables.items():
        if not os.environ.get(name) and not os.environ.get(f"{name}_FILE"):
            os.environ[name] = value


def _demo(state: StateDirectory) -> application.Demo:
    told = state.read(DEMO) or {}
    known = application.Demo.__dataclass_fields__
    return application.Demo(**{key: told[key] for key in known if key in told})


def _listen(port: int) -> socket.socket:
    try:
        return listen(port)
    except OSError as error:
        raise StackFailure(
            f"Port {port} of {LOOPBACK} is not free: {error.strerror}."
            " Choose another with --port."
        ) from error


def _wait_for_web(listener: socket.socket, web: Child) -> None:
    host, port = listener.getsockname()
    end = time.monotonic() + WEB_PATIENCE
    while not _answers(host, port):
        code = web.process.exit_code()
        if code is not None:
            raise StackFailure(f"The web process ended with exit code {code}.")
        if time.monotonic() > end:
            raise StackFailure("The web process does not answer; see its lines above.")
        time.sleep(0.05)


def _answers(host: str, port: int) -> bool:
    connection = http.client.HTTPConnection(host, port, timeout=5)
    try:
        connection.request("GET", "/readyz")
        return connection.getresponse().status == HTTPStatus.OK
    except OSError:
        return False
    finally:
        connection.close()
