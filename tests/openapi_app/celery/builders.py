"""Executions as the tests need them, and ways to look at them from outside."""

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from django.db import connections, transaction
from redis import Redis

from openapi_app.gateways.celery import send_execution
from openapi_app.models import Job, JobExecution, JobGroup
from openapi_app.workers import resend_lost
from orbit.clock import now
from orbit.ids import new_id
from orbit.stack.processes import Command, Process, below, python
from tasks_app.actions.create_application import create_application
from tasks_app.actions.create_namespace import create_namespace
from tasks_app.actions.create_queue import create_queue
from tasks_app.actions.reap_leases import reap_leases
from tasks_app.domain.limits import QueueLimits
from tasks_app.models import Attempt, Task
from tasks_app.public import (
    ENGINE,
    OwnedTask,
    OwnerKind,
    Reach,
    RecoverySafety,
    RetryPolicy,
    open_task,
    patiently,
)
from tests.live import eventually
from tests.servers import DATABASE, SESSION

LEASE_MS = 1_000
FINAL = {"SUCCEEDED", "FAILED", "CANCELLED", "NEEDS_REVIEW"}


@dataclass(frozen=True, kw_only=True)
class Bench:
    """A queue with a short lease, and the traces that handlers leave."""

    namespace_id: UUID
    queue_id: UUID
    group: JobGroup
    traces: Path

    def job(self, handler="test.traced", **changes):
        """A job whose handler leaves traces, but for what the test changes."""
        parameters = changes.pop("parameters", {})
        if handler.startswith("test."):
            parameters = {"file": str(self.traces), **parameters}
        return Job.objects.create(
            namespace_id=self.namespace_id,
            group=self.group,
            name=changes.pop("name", new_id().hex),
            handler=handler,
            parameters=json.dumps(parameters),
            queue_id=self.queue_id,
            sync_status="SYNCED",
            **changes,
        )

    def accept(self, job):
        """An execution of the job, accepted and not sent; its id."""
        return patiently(lambda is_patient: self._accept(job, is_patient=is_patient))

    def start(self, handler="test.traced", **changes):
        """An execution of a new job, accepted and sent; its id."""
        execution_id = self.accept(self.job(handler, **changes))
        assert send_execution(execution_id)
        return execution_id

    def _accept(self, job, *, is_patient):
        execution = JobExecution(
            namespace_id=self.namespace_id,
            job=job,
            source="ADMIN",
            accepted_at=now(),
        )
        execution.task_id = open_task(
            OwnedTask(
                namespace_id=self.namespace_id,
                queue_id=job.queue_id,
                owner_kind=OwnerKind.SCHEDULE,
                owner_id=execution.id,
                handler=job.handler,
                handler_version="v1",
                payload=job.parameters,
                retry=RetryPolicy(
                    max_attempts=job.max_attempts,
                    initial_delay_ms=job.initial_delay_ms,
                    max_delay_ms=job.max_delay_ms,
                    attempt_timeout_ms=job.attempt_timeout_ms,
                ),
                task_timeout_ms=job.task_timeout_ms,
                recovery_safety=RecoverySafety(job.recovery_safety),
            ),
            actor=ENGINE,
            now=execution.accepted_at,
            is_patient=is_patient,
        )
        execution.save(force_insert=True)
        return execution.id

    def lines(self):
        """The traces so far."""
        return self.traces.read_text().splitlines() if self.traces.exists() else []


def a_bench(traces):
    """A namespace of its own with a queue for executions."""
    namespace_id = create_namespace(name="celery", number=9)
    application_id = create_application(
        namespace_id=namespace_id, name="celery", max_outstanding=10_000
    )
    queue_id = create_queue(
        application_id=application_id,
        name="celery",
        limits=QueueLimits(max_outstanding=10_000, lease_ms=LEASE_MS),
        reach=Reach(namespace_id=namespace_id, queue_ids=None),
    )
    group = JobGroup.objects.create(namespace_id=namespace_id, name="tests")
    return Bench(
        namespace_id=namespace_id, queue_id=queue_id, group=group, traces=traces
    )


def task_id_of(execution_id):
    """The one task of the execution."""
    task_id = JobExecution.objects.get(id=execution_id).task_id
    assert task_id is not None
    return task_id


def task_of(execution_id):
    """The execution's task as it is now."""
    return Task.objects.get(id=task_id_of(execution_id))


def attempts_of(execution_id):
    """The attempts in order."""
    attempts = Attempt.objects.filter(task_id=task_id_of(execution_id))
    return list(attempts.order_by("number"))


def maintain():
    """What the maintenance process does for executions, once."""
    reap_leases(limit=100)
    resend_lost(limit=100)


def settled(execution_id, *, maintained=False):
    """The task once it is final or needs review."""

    def look():
        if maintained:
            maintain()
        task = task_of(execution_id)
        return task if task.state in FINAL else None

    return eventually(look)


@dataclass(kw_only=True)
class Worker:
    """One Celery worker process on the test database; output in `log`."""

    log: Path
    broker_url: str
    arguments: tuple[str, ...] = ("--pool", "solo")
    variables: dict[str, str] = field(default_factory=dict)
    process: Any = None

    def start(self):
        """Start it; answers once it takes messages."""
        before = self.text().count("ready.") if self.log.exists() else 0
        with self.log.open("a") as output:
            self.process = Process(
                Command(
                    name="worker",
                    argv=python(
                        *("-m", "celery", "-A", "tests.openapi_app.celery.worker_app"),
                        *("worker", *self.arguments, "--without-gossip"),
                        *("--without-mingle", "--without-heartbeat"),
                    ),
                    environment={
                        "DATABASE_URL": database_url(),
                        "CELERY_BROKER_URL": self.broker_url,
                        "PYTHONPATH": str(Path.cwd()),
                        **self.variables,
                    },
                ),
                instance=SESSION.guarded(),
                output=output,
            )
        eventually(lambda: self.text().count("ready.") > before)
        return self

    @property
    def pid(self):
        """The id of its main process."""
        return self.process.pid

    def family(self):
        """Its processes, the main one first."""
        return below(self.pid)

    def terminate(self):
        """Ask it to end, as a supervisor does."""
        self.process.ask_to_end()

    def kill(self):
        """End it and all below it at once."""
        self.process.kill()

    def stop(self):
        """End it, in good order if it can."""
        if self.process and self.process.exit_code() is None:
            self.process.stop(within=10)

    def text(self):
        """All it has printed."""
        return self.log.read_text()


def database_url():
    """The address of this session's test database."""
    database = connections["default"].settings_dict["NAME"]
    return urlsplit(os.environ[DATABASE])._replace(path=f"/{database}").geturl()


def messages_in(broker_url, queue="orbit"):
    """The messages that wait in a Valkey, decoded."""
    with Redis.from_url(broker_url) as client:
        return [json.loads(raw) for raw in client.lrange(queue, 0, -1)]


def committed():
    """A durable transaction, as an action has it."""
    return transaction.atomic(durable=True)
