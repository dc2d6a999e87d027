"""Orbit's own processes against a database that a test may hurt."""

import json
import os
import subprocess
import tempfile
import threading
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

import httpx
import psycopg

from orbit.stack import application
from orbit.stack.ports import listen
from orbit.stack.processes import CHECKOUT, Command, Process, python
from tests.live import eventually
from tests.servers import SESSION

MANAGE = str(CHECKOUT / "manage.py")
WORKER = str(CHECKOUT / "tests" / "faults" / "worker.py")


def run(command, output=subprocess.DEVNULL, **variables):
    """A running process of the suite, on these variables."""
    return Process(
        replace(command, environment={**command.environment, **variables}),
        instance=SESSION.guarded(),
        output=output,
    )


@contextmanager
def running(command, output=subprocess.DEVNULL, **variables):
    """A process that is killed at the end, if it still runs."""
    process = run(command, output, **variables)
    try:
        yield process
    finally:
        if process.exit_code() is None:
            process.kill()


@contextmanager
def web(database_url, **variables):
    """A client of a real gunicorn on the database."""
    with ExitStack() as stack:
        listener = stack.enter_context(listen(0))
        base_url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        command = application.web(listener=listener.fileno())
        stack.enter_context(
            running(
                command, DATABASE_URL=database_url, ORBIT_BASE_URL=base_url, **variables
            )
        )
        limits = httpx.Limits(max_connections=100, max_keepalive_connections=0)
        client = stack.enter_context(
            httpx.Client(base_url=base_url, timeout=30, limits=limits)
        )
        eventually(lambda: client.get("/v1/tasks").status_code == 401)
        yield client


@contextmanager
def maintenance(database_url, **variables):
    """`manage.py maintain` at work on the database, with short pauses."""
    with (
        tempfile.NamedTemporaryFile(mode="w+") as output,
        running(
            application.maintenance(),
            output,
            DATABASE_URL=database_url,
            **{"ORBIT_MAINTENANCE_INTERVAL_MS": "100", **variables},
        ) as process,
    ):
        eventually(lambda: "maintenance_started" in Path(output.name).read_text())
        yield process


def one_pass(database_url):
    """A start of maintenance that makes one pass."""
    command = application.maintenance()
    once = replace(command, argv=(*command.argv, "--once"))
    return running(once, DATABASE_URL=database_url)


def worker(client, seat, *, lease_ms, **variables):
    """A worker process over HTTP; what it does, its tasks' payloads say."""
    return running(
        Command(name="worker", argv=python(WORKER)),
        ORBIT_BASE_URL=str(client.base_url),
        ORBIT_TOKEN=seat["tokens"]["worker"],
        ORBIT_QUEUE_ID=seat["queue_id"],
        LEASE_MS=str(lease_ms),
        **variables,
    )


def prepare(database_url):
    """Migrate an empty server; answers what init_dev made there, tokens included."""
    environment = {**os.environ, "DATABASE_URL": database_url}

    def manage(*arguments):
        done = subprocess.run(
            python(MANAGE, *arguments),
            env=environment,
            cwd=CHECKOUT,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    with psycopg.connect(
        database_url.replace("/orbit?", "/postgres?"), autocommit=True
    ) as connection:
        connection.execute("CREATE DATABASE orbit")
    manage("migrate", "--verbosity", "0")
    return json.loads(manage("init_dev", "--recovery-access", "--json"))


def at_once(acts):
    """What each act answered, all begun at the same moment in a thread of its own."""
    together = threading.Barrier(len(acts))
    answers = [None] * len(acts)

    def act(number):
        together.wait(timeout=30)
        answers[number] = acts[number]()

    threads = [
        threading.Thread(target=act, args=[number]) for number in range(len(acts))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return answers
