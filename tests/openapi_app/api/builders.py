"""Jobs, tokens and callers of the open job API as the tests need them."""

import datetime as dt
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from uuid import UUID

from django.db import connection
from django.test import Client

from openapi_app.domain.handlers import job_handler
from openapi_app.models import IdempotencyRecord, Job, JobExecution, JobGroup
from orbit.ids import new_id
from tasks_app.actions.create_application import create_application
from tasks_app.actions.create_namespace import create_namespace
from tasks_app.actions.create_queue import create_queue
from tasks_app.domain.limits import QueueLimits
from tasks_app.models import Task
from tasks_app.public import Reach
from tokens_app.public import (
    SCOPES,
    Actor,
    Audience,
    IssuedToken,
    TokenGrant,
    issue_token,
)

EVERY_SCOPE = SCOPES[Audience.OPEN_JOBS]
HANDLER = "test.secret_handler"
PARAMETERS = '{"iban":"a parameter that nobody may see"}'
ROOT = "/openapi/v1"


@job_handler(HANDLER)
def run_nothing(_context, _parameters):
    """Stands in for a job's handler; no test of this API runs it."""


@dataclass(frozen=True, kw_only=True)
class Place:
    """A namespace with one queue and one job group."""

    namespace_id: UUID
    application_id: UUID
    queue_id: UUID
    group: JobGroup

    def job(self, **changes):
        """A job that may be triggered, but for what the test changes."""
        wanted = {
            "namespace_id": self.namespace_id,
            "group": self.group,
            "name": new_id().hex,
            "handler": HANDLER,
            "parameters": PARAMETERS,
            "queue_id": self.queue_id,
            "sync_status": "SYNCED",
        }
        return Job.objects.create(**{**wanted, **changes})

    def token(self, *jobs, **changes) -> IssuedToken:
        """A token with every scope for these jobs, but for what the test changes."""
        wanted = {
            "name": "partner",
            "audience": Audience.OPEN_JOBS,
            "namespace_id": self.namespace_id,
            "scopes": EVERY_SCOPE,
            "job_ids": tuple(job.id for job in jobs),
            "expires": dt.timedelta(hours=1),
            "reads_per_minute": 10_000,
            "triggers_per_minute": 10_000,
        }
        grant = TokenGrant(**{**wanted, **changes})
        return issue_token(grant=grant, by=Actor(name="tests"))

    def caller(self, *jobs, **changes):
        """Somebody who holds such a token."""
        return Caller(self.token(*jobs, **changes).plaintext)


def a_place(*, number=11, group="billing", max_outstanding=100_000):
    """A place of its own."""
    namespace_id = create_namespace(name=f"open {number}", number=number)
    application_id = create_application(
        namespace_id=namespace_id, name="open", max_outstanding=max_outstanding
    )
    queue_id = create_queue(
        application_id=application_id,
        name="open",
        limits=QueueLimits(max_outstanding=max_outstanding),
        reach=Reach(namespace_id=namespace_id, queue_ids=None),
    )
    return Place(
        namespace_id=namespace_id,
        application_id=application_id,
        queue_id=queue_id,
        group=JobGroup.objects.create(namespace_id=namespace_id, name=group),
    )


_shared = Client()


def a_client():
    """A client without a past; the middleware, slow to load, is everybody's."""
    client = Client(raise_request_exception=False)
    client.handler = _shared.handler
    return client


class Answer:
    """An answer whose envelope has been looked at."""

    def __init__(self, response):
        self.status = response.status_code
        self.headers = response.headers
        self.content = response.content
        self.body = json.loads(response.content)
        assert self.body["code"] == self.status
        assert (self.body["message"] == "ok") == (self.status < 400)
        assert isinstance(self.body["timestamp"], int)
        assert len(self.body["request_id"]) == 32
        if self.status >= 400:
            assert self.body["data"] is None
            assert self.body["detail"]
            assert set(self.body["retry"]) == {"safe", "same_key", "after_seconds"}
        self.message = self.body["message"]
        self.data = self.body["data"]
        self.execution_started = self.body.get("execution_started")

    @property
    def id(self):
        """The id of the one thing shown."""
        return self.data["id"]

    @property
    def is_replay(self):
        """Whether an earlier call had started it."""
        return {"true": True, "false": False}[self.headers["Idempotency-Replayed"]]


class Caller:
    """Calls the API within this process; `token` None sends no token."""

    def __init__(self, token=None, *, address="192.0.2.1"):
        self.token = token
        self.address = address

    def call(self, method, path, *, headers=None, **sent):
        """One call."""
        headers = dict(headers or {})
        if self.token is not None:
            headers.setdefault("Authorization", f"Bearer {self.token}")
        return Answer(
            a_client().generic(
                method,
                f"{ROOT}{path}",
                headers=headers,
                REMOTE_ADDR=self.address,
                **sent,
            )
        )

    def get(self, path, **headers):
        """One read."""
        return self.call("GET", path, headers=headers)

    def trigger(self, job, key="a-first-key", *, body=b"", **headers):
        """One trigger; `key` None sends no key."""
        if key is not None:
            headers["Idempotency-Key"] = key
        job_id = job if isinstance(job, str) else job.id.hex
        return self.call(
            "POST",
            f"/jobs/{job_id}/executions",
            headers=headers,
            data=body,
            content_type="application/json",
        )


def rows():
    """How many executions, claims and tasks there are."""
    return (
        JobExecution.objects.count(),
        IdempotencyRecord.objects.count(),
        Task.objects.count(),
    )


def age_keys(**by):
    """Let every claim be as old as that; returns nothing."""
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE openapi_idempotency_record SET created_at = now() - %s,"
            " expires_at = now() - %s + interval '24 hours'",
            [dt.timedelta(**by)] * 2,
        )


def at_once(count, act):
    """What `count` threads got that ran `act(number)` at the same moment."""
    together = threading.Barrier(count)

    def run(number):
        together.wait(timeout=30)
        try:
            return act(number)
        finally:
            connection.close()

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(run, range(count)))
