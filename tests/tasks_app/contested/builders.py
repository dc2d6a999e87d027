"""Tasks at the stage that a contest needs, made by the engine's own actions."""

import uuid
from dataclasses import dataclass

import msgspec
from django.db import connection
from msgspec import UNSET

from orbit.errors import Refusal
from tasks_app.actions.cancel_task import cancel_task
from tasks_app.actions.claim_tasks import claim_tasks
from tasks_app.actions.create_application import create_application
from tasks_app.actions.create_namespace import create_namespace
from tasks_app.actions.create_queue import create_queue
from tasks_app.actions.renew_lease import renew_lease
from tasks_app.actions.report_attempts import report_attempts
from tasks_app.actions.retry_task import retry_task
from tasks_app.actions.review_task import review_task
from tasks_app.actions.submit_tasks import Submission, submit_tasks
from tasks_app.domain.access import Actor, ActorKind, Reach
from tasks_app.domain.commands import (
    CancelTask,
    ClaimTasks,
    RetryPolicyIn,
    RetryTask,
    ReviewTask,
    SubmitTask,
    WorkerIn,
)
from tasks_app.domain.idempotency import identify
from tasks_app.domain.lifecycle import Failure
from tasks_app.domain.limits import QueueLimits
from tasks_app.domain.reports import Report, ReportKind

HOUR_MS = 3_600_000


@dataclass(frozen=True)
class Place:
    """A queue with its application and namespace, and somebody who may do all there."""

    namespace_id: uuid.UUID
    application_id: uuid.UUID
    queue_id: uuid.UUID
    actor: Actor
    reach: Reach

    def submission(self, *, key=None, payload=b"{}", **changes):
        """A task to submit, valid but for what the test changes."""
        retry = {"attempt_timeout_ms": 600_000, **changes.pop("retry", {})}
        command = SubmitTask(
            **{
                "queue_id": self.queue_id.hex,
                "handler": "ledger.transfer",
                "handler_version": "1",
                "payload_version": "1",
                "payload": msgspec.Raw(payload),
                "retry": RetryPolicyIn(**retry),
                "task_timeout_ms": HOUR_MS,
                **changes,
            }
        )
        return Submission(command=command, identity=an_identity(key, payload))

    def submit(self, submissions):
        """Each submission's answer."""
        return submit_tasks(submissions, actor=self.actor, reach=self.reach)

    def waiting(self, count=1, **changes):
        """The ids of new tasks."""
        answers = self.submit([self.submission(**changes) for _ in range(count)])
        return [answer.task.id for answer in answers]

    def claim(self, max_tasks=1, *, lease_ms=300_000):
        """Assignments for somebody."""
        worker = WorkerIn(name="somebody", instance_id=uuid.uuid4().hex)
        return claim_tasks(
            ClaimTasks(worker=worker, max_tasks=max_tasks, lease_ms=lease_ms),
            queue_id=self.queue_id,
            actor=self.actor,
            reach=self.reach,
        )

    def running(self, count=1, **changes):
        """Assignments of new tasks, by one claim for each hundred."""
        self.waiting(count, **changes)
        claims = [min(100, count - done) for done in range(0, count, 100)]
        return [entry for size in claims for entry in self.claim(size)]

    def in_review(self, count=1, **changes):
        """The ids of tasks whose worker did not know what happened."""
        leased = self.running(count, **changes)
        for start in range(0, count, 100):
            self.report_all([unsure(entry) for entry in leased[start : start + 100]])
        return [entry.task.id for entry in leased]

    def failed(self, count=1, **changes):
        """The ids of tasks that failed for good."""
        leased = self.running(count, **changes)
        for start in range(0, count, 100):
            self.report_all([failure(entry) for entry in leased[start : start + 100]])
        return [entry.task.id for entry in leased]

    def report_all(self, reports):
        """Each report's answer."""
        return report_attempts(reports, actor=self.actor, reach=self.reach)

    def report(self, report):
        """The answer to one report."""
        return self.report_all([report])[0]

    def renew(self, assignment):
        """One heartbeat."""
        return renew_lease(
            attempt_id=assignment.attempt_id,
            lease_token=assignment.lease_token,
            reach=self.reach,
        )

    def cancel(self, task_id, *, key=None):
        """The answer to a cancel."""
        return cancel_task(
            CancelTask(),
            task_id=task_id,
            identity=an_identity(key, b"{}"),
            actor=self.actor,
            reach=self.reach,
        )

    def review(
        self, task_id, *, key=None, outcome="SUCCEEDED", revision="3", digest=UNSET
    ):
        """The answer to a review, of the dossier with this digest if one is given."""
        command = ReviewTask(
            expected_revision=revision,
            reason="The ledger shows both halves.",
            evidence_ref="evidence:ledger-1",
            execution_settled=True,
            outcome=outcome,
            result=msgspec.Raw(b'{"settled":1.10}'),
            expected_dossier_digest=digest,
        )
        return review_task(
            command,
            task_id=task_id,
            identity=an_identity(key, msgspec.json.encode(command)),
            actor=self.actor,
            reach=self.reach,
        )

    def retry(self, task_id, *, key=None, revision="3"):
        """The answer to a retry."""
        command = RetryTask(
            expected_revision=revision,
            reason="The bank is back.",
            evidence_ref="evidence:bank-1",
            safe_to_retry=True,
            task_timeout_ms=HOUR_MS,
        )
        return retry_task(
            command,
            task_id=task_id,
            identity=an_identity(key, msgspec.json.encode(command)),
            actor=self.actor,
            reach=self.reach,
        )


def a_place(**limits):
    """A new queue in a namespace and an application of its own."""
    number = uuid.uuid4().int % 10**15
    outstanding = limits.pop("application_outstanding", 1_000_000)
    namespace_id = create_namespace(name=f"tenant {number}", number=number)
    application_id = create_application(
        namespace_id=namespace_id, name="bank", max_outstanding=outstanding
    )
    reach = Reach(namespace_id=namespace_id, queue_ids=None)
    queue_id = create_queue(
        application_id=application_id,
        name="transfers",
        limits=QueueLimits(**limits),
        reach=reach,
    )
    return Place(
        namespace_id=namespace_id,
        application_id=application_id,
        queue_id=queue_id,
        actor=Actor(id=uuid.uuid4(), kind=ActorKind.TOKEN),
        reach=reach,
    )


def an_identity(key, content):
    """The identity of a write; a new key unless one is given."""
    return identify(key=key or uuid.uuid4().hex, content=content)


def success(assignment, result="1.10"):
    """The report that it succeeded."""
    return _report(assignment, kind=ReportKind.SUCCEED, result=result)


def failure(assignment, *, is_retryable=False):
    """The report that it failed."""
    return _report(
        assignment,
        kind=ReportKind.FAIL,
        failure=Failure(code="NO_FUNDS", message="The account is empty."),
        is_retryable=is_retryable,
    )


def unsure(assignment):
    """The report that the worker does not know."""
    return _report(assignment, kind=ReportKind.UNKNOWN)


def stopped(assignment):
    """The report that it stopped because cancel was requested."""
    return _report(assignment, kind=ReportKind.CANCELLED)


def _report(assignment, **content):
    return Report(
        attempt_id=assignment.attempt_id, lease_token=assignment.lease_token, **content
    )


def let_lease_run_out(*assignments):
    """Let the time of these leases be over."""
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE tasks_attempt SET lease_expires_at ="
            " clock_timestamp() - interval '1 s' WHERE id = ANY(%s)",
            [[entry.attempt_id for entry in assignments]],
        )


def let_deadline_pass(*task_ids):
    """Let the deadline of these tasks be over."""
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE tasks_task SET deadline_at = clock_timestamp() - interval '1 s'"
            " WHERE id = ANY(%s)",
            [list(task_ids)],
        )


def the(task_id, *columns):
    """These columns of the task as it is now."""
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT {', '.join(columns)} FROM tasks_task WHERE id = %s", [task_id]
        )
        row = cursor.fetchone()
    return row[0] if len(columns) == 1 else row


def count_of(table, where="true", *parameters):
    """How many rows of the table are so."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT count(*) FROM {table} WHERE {where}", list(parameters))
        return cursor.fetchone()[0]


def reasons(answers):
    """Of each answer: the reason of a refusal, or its code; None for success."""
    return [
        (answer.details.get("reason") or answer.code)
        if isinstance(answer, Refusal)
        else None
        for answer in answers
    ]
