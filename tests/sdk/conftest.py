"""A real Orbit over HTTP for the SDK's tests: gunicorn on the test database."""

import datetime as dt
import os
import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit
from uuid import UUID

import httpx
import pytest
from django.db import connections

from orbit.stack.ports import free_port
from orbit.stack.processes import Command, Process
from orbit_sdk import Client, CurrentTask
from tasks_app.actions.create_application import create_application
from tasks_app.actions.create_namespace import create_namespace
from tasks_app.actions.create_queue import create_queue
from tasks_app.actions.reap_leases import reap_leases
from tasks_app.domain.access import Reach
from tasks_app.domain.limits import QueueLimits
from tests.sdk.cable import cable_to
from tests.sdk.waiting import eventually
from tests.servers import DATABASE, SESSION
from tokens_app.public import SCOPES, Actor, Audience, TokenGrant, issue_token

LEDGER_WORKER = Path(__file__).parents[2] / "sdk" / "examples" / "ledger_worker.py"


@dataclass(frozen=True, kw_only=True)
class Orbit:
    """One queue of a running Orbit, and a client that may do everything in it."""

    base_url: str
    queue_id: str
    token: str
    client: Client

    def reap(self) -> int:
        """Let the engine take back what ran out, from whatever thread; how many."""
        try:
            return reap_leases(limit=100)
        finally:
            if threading.current_thread() is not threading.main_thread():
                connections.close_all()

    def reap_until(self, task_id: str, state: str) -> CurrentTask:
        """Let the engine take back what ran out until the task is in the state."""

        def reached() -> CurrentTask | None:
            self.reap()
            task = self.client.get_task(task_id)
            return task if task.state == state else None

        task: CurrentTask = eventually(reached)
        return task


@pytest.fixture(scope="session")
def web_process(django_db_setup):  # noqa: ARG001 - the database has to be there
    """The base URL of a gunicorn that uses this session's test database."""
    database = connections["default"].settings_dict["NAME"]
    url = urlsplit(os.environ[DATABASE])._replace(path=f"/{database}").geturl()
    port = free_port()
    base_url = f"http://127.0.0.1:{port}"
    command = Command(
        name="web",
        argv=(
            *(sys.executable, "-m", "gunicorn", "orbit.wsgi:application"),
            *("--bind", f"127.0.0.1:{port}", "--worker-class", "gthread"),
            *("--threads", "8", "--keep-alive", "5", "--no-control-socket"),
            *("--graceful-timeout", "1"),
        ),
        environment={"DATABASE_URL": url},
    )
    process = Process(command, instance=SESSION.guarded(), output=subprocess.DEVNULL)
    try:
        eventually(lambda: answers(base_url))
        yield base_url
    finally:
        process.stop()


def answers(base_url):
    """Whether a web process listens there."""
    try:
        return httpx.get(f"{base_url}/v1/tasks", trust_env=False).status_code > 0
    except httpx.TransportError:
        return False


@pytest.fixture
def orbit(transactional_db, web_process):  # noqa: ARG001 - rows are for all to see
    """An empty queue and a client whose token has every permission in it."""
    namespace_id = create_namespace(name="sdk", number=7)
    application_id = create_application(
        namespace_id=namespace_id, name="sdk", max_outstanding=1_000
    )
    queue_id = create_queue(
        application_id=application_id,
        name="sdk",
        limits=QueueLimits(max_outstanding=1_000),
        reach=Reach(namespace_id=namespace_id, queue_ids=None),
    )
    token = a_token(
        namespace_id=namespace_id, application_id=application_id, queue_id=queue_id
    )
    with Client(web_process, token) as client:
        yield Orbit(
            base_url=web_process, queue_id=queue_id.hex, token=token, client=client
        )


def a_token(*, namespace_id: UUID, application_id: UUID, queue_id: UUID) -> str:
    grant = TokenGrant(
        name="sdk tests",
        audience=Audience.TASKS,
        namespace_id=namespace_id,
        application_id=application_id,
        scopes=SCOPES[Audience.TASKS],
        queue_ids=(queue_id,),
        expires=dt.timedelta(hours=1),
    )
    return issue_token(grant=grant, by=Actor(name="tests")).plaintext


@pytest.fixture
def cable(orbit):
    """A cable to `orbit` that the test can cut, and a client at its end."""
    with (
        cable_to(orbit.base_url) as cable,
        Client(cable.base_url, orbit.token) as client,
    ):
        cable.client = client
        yield cable


@dataclass(frozen=True, kw_only=True)
class LedgerWorker:
    """Runs the example worker as a process of its own."""

    orbit: Orbit
    ledger: Path

    def start(self, *arguments, **variables):
        return subprocess.Popen(
            [sys.executable, str(LEDGER_WORKER), *arguments],
            env={
                **os.environ,
                "PYTHONPATH": str(LEDGER_WORKER.parents[1]),
                "ORBIT_BASE_URL": self.orbit.base_url,
                "ORBIT_TOKEN": self.orbit.token,
                "ORBIT_QUEUE_ID": self.orbit.queue_id,
                "ORBIT_LEDGER": str(self.ledger),
                **variables,
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def run(self, *arguments, **variables):
        """Run it to its end; the exit code and what it printed."""
        process = self.start(*arguments, **variables)
        printed, _ = process.communicate(timeout=30)
        return process.returncode, printed


@pytest.fixture
def ledger_worker(orbit, tmp_path):
    """The example worker on the queue of `orbit`."""
    return LedgerWorker(orbit=orbit, ledger=tmp_path / "ledger.jsonl")
