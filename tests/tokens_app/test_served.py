"""Tokens against a real server: samples that are run, and ends that hold everywhere.

The server is another process with two workers; what a test does to a token happens in
this one.
"""

import json
import os
import shutil
import subprocess
import sys
from datetime import timedelta

import httpx
import pytest
from django.conf import settings
from redis import Redis

from orbit.ids import new_id
from tests import builders
from tests.live import eventually
from tests.openapi_app.api.builders import ROOT, a_place
from tests.openapi_app.api.served import serving
from tests.servers import SESSION
from tests.tokens_app.builders import SOMEBODY, age
from tokens_app.domain.samples import samples
from tokens_app.domain.scope import SCOPES
from tokens_app.models import TokenCall
from tokens_app.public import (
    Rotation,
    RotationReason,
    resume_token,
    revoke_token,
    rotate_token,
    suspend_token,
)

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.xdist_group("tokens_served"),
]
HOUR = timedelta(hours=1)


@pytest.fixture(scope="module")
def output():
    """What the server prints."""
    directory = SESSION.directory()
    yield directory / "output"
    shutil.rmtree(directory)


@pytest.fixture(scope="module")
def base_url(django_db_setup, output):  # noqa: ARG001 - the database has to be there
    """Where the server answers; it writes the log of calls all the time."""
    with pytest.MonkeyPatch.context() as patch, output.open("ab") as file:
        patch.setenv("ORBIT_CALL_LOG_INTERVAL_MS", "50")
        with serving(file, redis_url=settings.REDIS_URL) as url:
            yield url


@pytest.fixture
def place():
    """A namespace with a group, and no counts in Redis."""
    with Redis.from_url(settings.REDIS_URL) as client:
        client.flushdb()
    return a_place(number=78)


class Line:
    """One connection that stays open."""

    def __init__(self, base_url):
        self.client = httpx.Client(base_url=base_url, trust_env=False, timeout=30)
        self.ends = set()

    def ask(self, issued, path="/token", *, method="GET", **headers):
        """The answer's status and code; every call is on the same connection."""
        response = self.client.request(
            method,
            f"{ROOT}{path}",
            headers={"Authorization": f"Bearer {issued.plaintext}", **headers},
        )
        stream = response.extensions["network_stream"]
        self.ends.add(stream.get_extra_info("client_addr"))
        assert len(self.ends) == 1
        self.body = response.json()
        return response.status_code, self.body["message"]


@pytest.fixture
def line(base_url):
    """A connection to the server."""
    opened = Line(base_url)
    yield opened
    opened.client.close()


def rotated(issued, *, seen=0, overlap=timedelta(0)):
    """The next secret."""
    return rotate_token(
        token_id=issued.token_id,
        rotation=Rotation(
            expected_rotation_count=seen,
            reason=RotationReason.ROUTINE,
            overlap=overlap,
        ),
        by=SOMEBODY,
    )


def test_revoking_holds_on_an_open_connection(place, line):
    issued = place.token(place.job())
    before = line.ask(issued)

    revoke_token(token_id=issued.token_id, by=SOMEBODY, reason="left")

    assert before == (200, "ok")
    assert line.ask(issued) == (401, "token_revoked")


def test_suspending_and_resuming_hold_on_an_open_connection(place, line):
    issued = place.token(place.job())
    seen = [line.ask(issued)]

    suspend_token(token_id=issued.token_id, by=SOMEBODY, reason="odd")
    seen.append(line.ask(issued))
    resume_token(token_id=issued.token_id, by=SOMEBODY, reason="fine")
    seen.append(line.ask(issued))

    assert seen == [(200, "ok"), (401, "token_suspended"), (200, "ok")]


def test_expiry_holds_on_an_open_connection(place, line):
    issued = place.token(place.job(), expires=HOUR)
    before = line.ask(issued)

    age(issued.token_id, by=HOUR)

    assert before == (200, "ok")
    assert line.ask(issued) == (401, "token_expired")


def test_in_an_overlap_two_secrets_work_then_one_and_never_a_third(place, line):
    first = place.token(place.job(), expires=100 * HOUR)
    second = rotated(first, overlap=HOUR)
    in_overlap = [line.ask(it)[0] for it in (first, second)]
    third = rotated(first, seen=1, overlap=HOUR)
    three = [line.ask(it)[0] for it in (first, second, third)]
    age(first.token_id, by=HOUR)
    afterwards = [line.ask(it)[0] for it in (first, second, third)]

    assert in_overlap == [200, 200]
    assert three == [401, 200, 200]
    assert afterwards == [401, 401, 200]


def test_a_key_used_before_a_rotation_finds_its_execution_after_it(place, line):
    job = place.job()
    path = f"/jobs/{job.id.hex}/executions"
    first = place.token(job)
    started = line.ask(first, path, method="POST", **{"Idempotency-Key": "order-4711"})
    execution = line.body["data"]["id"]
    second = rotated(first)

    again = line.ask(second, path, method="POST", **{"Idempotency-Key": "order-4711"})

    assert started == again == (202, "ok")
    assert line.body["data"]["id"] == execution
    assert line.ask(first)[0] == 401
    found = line.ask(second, path, **{"Idempotency-Key": "order-4711"})
    assert found[0] == 200
    assert [it["id"] for it in line.body["data"]["items"]] == [execution]


def test_the_server_writes_calls_and_prints_no_secret(place, line, output):
    issued = place.token(place.job())
    for _ in range(3):
        line.ask(issued)

    eventually(lambda: TokenCall.objects.filter(token_id=issued.token_id).count() == 3)

    printed = output.read_text()
    assert issued.key_id in printed
    assert issued.plaintext[21:] not in printed


class Reader:
    """Somebody who fills in a sample and runs it."""

    def __init__(self, shell, issued, values):
        self.shell = shell
        self.issued = issued
        self.values = values

    def run(self, text):
        """What the sample prints, as JSON."""
        for name, value in self.values.items():
            text = text.replace(f"<{name}>", value)
        assert "<" not in text.replace("<<JSON", ""), text
        text = text.replace("wait_seconds=20", "wait_seconds=0")
        run = {"curl": ["bash", "-c"], "python": [sys.executable, "-c"]}[self.shell]
        ran = subprocess.run(
            [*run, text],
            capture_output=True,
            text=True,
            env={"PATH": os.environ["PATH"], "TOKEN": self.issued.plaintext},
            timeout=60,
            check=False,
        )
        assert (ran.returncode, ran.stderr) == (0, ""), ran
        return json.loads(ran.stdout)


@pytest.mark.parametrize("is_shown", [True, False], ids=["shown", "variable"])
@pytest.mark.parametrize("shell", ["curl", "python"])
def test_every_sample_of_the_open_job_api_runs(place, base_url, shell, is_shown):
    job = place.job()
    issued = place.token(job)
    values = {"JOB_ID": job.id.hex}
    reader = Reader(shell, issued, values)
    ran = []

    for sample in samples(
        base_url=base_url,
        audience="OPEN_JOBS",
        scopes=SCOPES["OPEN_JOBS"],
        token=issued.plaintext if is_shown else None,
        shell=shell,
    ):
        answer = reader.run(sample.text)
        assert answer["message"] == "ok", answer
        ran.append(answer["code"])
        if answer["code"] == 202:
            values["EXECUTION_ID"] = answer["data"]["id"]

    assert ran == [200, 200, 200, 202, 200, 200]


@pytest.mark.parametrize("shell", ["curl", "python"])
def test_every_sample_of_the_task_api_runs(base_url, shell):
    queue = builders.a_queue()
    issued = builders.a_token(queue)
    uncertain = builders.a_task(state="NEEDS_REVIEW", queue=queue)
    failed = builders.a_task(state="FAILED", queue=queue)
    values = {
        "QUEUE_ID": queue.id.hex,
        "WORKER_ID": new_id().hex,
        "WORKFLOW_ID": new_id().hex,
    }
    reader = Reader(shell, issued, values)
    ran = []

    def aim_at(task):
        values.update(TASK_ID=task.id.hex, REVISION=str(task.revision))

    for sample in samples(
        base_url=base_url,
        audience="TASKS",
        scopes=SCOPES["TASKS"],
        token=None,
        shell=shell,
    ):
        if sample.title == "Settle an uncertain task":
            aim_at(uncertain)
        elif sample.title == "Run a final task again":
            aim_at(failed)
        answer = reader.run(sample.text)
        assert "error" not in answer, (sample.title, answer)
        ran.append(sample.title)
        data = answer["data"]
        if sample.title == "Submit a task":
            values["TASK_ID"] = data["task"]["id"]
        elif sample.title == "Claim a task":
            [lease] = data["assignments"]
            values["ATTEMPT_ID"] = lease["attempt_id"]
            values["LEASE_TOKEN"] = lease["lease_token"]

    assert len(ran) == 12
