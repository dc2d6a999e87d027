"""Rows as the tests need them, brought about by the real actions."""

import itertools
import secrets
from datetime import timedelta
from typing import Any
from uuid import UUID

import msgspec
from django.db import connection

from orbit import clock
from orbit.errors import Refusal
from orbit.ids import new_id
from tasks_app.actions.approve_review import approve_review
from tasks_app.actions.cancel_task import cancel_task
from tasks_app.actions.claim_tasks import Assignment, claim_tasks
from tasks_app.actions.create_application import create_application
from tasks_app.actions.create_namespace import create_namespace
from tasks_app.actions.create_queue import create_queue
from tasks_app.actions.propose_review import propose_review
from tasks_app.actions.report_attempts import report_attempts
from tasks_app.actions.retry_task import retry_task
from tasks_app.actions.review_task import review_task
from tasks_app.actions.submit_tasks import Submission, submit_tasks
from tasks_app.actions.withdraw_review import withdraw_review
from tasks_app.domain.access import Actor, ActorKind, Reach
from tasks_app.domain.commands import (
    ApproveReview,
    CancelTask,
    ClaimTasks,
    OwnerIn,
    RetryPolicyIn,
    RetryTask,
    ReviewTask,
    SubmitTask,
    WithdrawReview,
    WorkerIn,
)
from tasks_app.domain.idempotency import Identity, identify
from tasks_app.domain.lifecycle import Failure
from tasks_app.domain.limits import QueueLimits
from tasks_app.domain.reports import Report, ReportKind
from tasks_app.models import Application, Queue, Task
from tasks_app.models.record import TaskRecord
from tasks_app.models.replay import Answered
from tasks_app.models.review import ProposalRecord, Proposed
from tokens_app.domain.grant import Actor as Issuer
from tokens_app.public import SCOPES, IssuedToken, TokenGrant, issue_token

WORKER = Actor(id=UUID(int=0xA1), kind=ActorKind.TOKEN)
SUBMITTER = Actor(id=UUID(int=0xA2), kind=ActorKind.TOKEN)
OPERATOR = Actor(id=UUID(int=0xA3), kind=ActorKind.TOKEN)
INSTANCE = "5" * 32
BROKEN = Failure(code="BROKEN", message="The ledger said no.")
EVERY_SCOPE = SCOPES["TASKS"]
RETRY_MEMBERS = (
    "max_attempts",
    "initial_delay_ms",
    "max_delay_ms",
    "attempt_timeout_ms",
)

_numbers = itertools.count(1)


def a_namespace() -> UUID:
    """A new tenant."""
    return create_namespace(
        name=f"tenant {next(_numbers)}", number=secrets.randbelow(2**40) + 10
    )


def an_application(
    *, namespace_id: UUID | None = None, max_outstanding: int = 1_000_000
) -> Application:
    """A new application, in a new namespace unless one is given."""
    application_id = create_application(
        namespace_id=namespace_id or a_namespace(),
        name=f"application {next(_numbers)}",
        max_outstanding=max_outstanding,
    )
    return Application.objects.get(id=application_id)


def a_queue(*, application: Application | None = None, **limits: Any) -> Queue:
    """A new queue, in a new application unless one is given."""
    application = application or an_application()
    queue_id = create_queue(
        application_id=application.id,
        name=f"queue {next(_numbers)}",
        limits=QueueLimits(**limits),
        reach=Reach(namespace_id=application.namespace_id, queue_ids=None),
    )
    return Queue.objects.get(id=queue_id)


def reach_of(*queues: Queue) -> Reach:
    """The reach of a token that may touch these queues."""
    return Reach(
        namespace_id=queues[0].namespace_id, queue_ids=tuple(q.id for q in queues)
    )


def a_token(
    *queues: Queue, scopes: tuple[str, ...] = EVERY_SCOPE, **changes: Any
) -> IssuedToken:
    """A token with all scopes on these queues, but for what the test changes."""
    wanted = {
        "name": "billing",
        "audience": "TASKS",
        "namespace_id": queues[0].namespace_id,
        "application_id": queues[0].application_id,
        "scopes": scopes,
        "queue_ids": tuple(queue.id for queue in queues),
        "expires": timedelta(days=30),
    }
    return issue_token(
        grant=TokenGrant(**{**wanted, **changes}), by=Issuer(name="user:ada")
    )


def an_identity(*, key: str | None = None, content: bytes = b"{}") -> Identity:
    """The identity of a write, with a key of its own unless one is given."""
    return identify(key=key or f"key-{next(_numbers)}", content=content)


def a_submission(queue: Queue, **changes: Any) -> Submission:
    """A valid task to accept; members of the retry policy are given flat."""
    identity = changes.pop("identity", None) or an_identity()
    retry: dict[str, Any] = {"attempt_timeout_ms": 10_000}
    retry |= {name: changes.pop(name) for name in RETRY_MEMBERS if changes.get(name)}
    payload = changes.pop("payload", '{"amount":1}')
    owner = changes.pop("owner", None)
    if owner:
        changes["owner"] = OwnerIn(kind=owner, id=new_id().hex)
    wanted = {
        "queue_id": queue.id.hex,
        "handler": f"ledger.transfer-{next(_numbers)}",
        "handler_version": "v1",
        "payload_version": "v1",
        "payload": msgspec.Raw(payload.encode()),
        "retry": RetryPolicyIn(**retry),
        "task_timeout_ms": 60_000,
    }
    return Submission(command=SubmitTask(**{**wanted, **changes}), identity=identity)


def submitted(*submissions: Submission, queue: Queue) -> list[Answered | Refusal]:
    """What a submitter gets for these."""
    return submit_tasks(submissions, actor=SUBMITTER, reach=reach_of(queue))


def claimed(
    queue: Queue, *, task_id: UUID | None = None, **changes: Any
) -> list[Assignment]:
    """What a worker gets from the queue, or for one task of it."""
    command = ClaimTasks(
        worker=WorkerIn(name="worker-1", instance_id=INSTANCE),
        **{"max_tasks": 100, **changes},
    )
    return claim_tasks(
        command,
        queue_id=queue.id,
        actor=WORKER,
        reach=reach_of(queue),
        task_id=task_id,
    )


def a_lease(
    *, queue: Queue | None = None, lease_ms: int = 30_000, **changes: Any
) -> Assignment:
    """A running task with the lease on it."""
    queue = queue or a_queue()
    submission = a_submission(queue, **changes)
    [answer] = submitted(submission, queue=queue)
    assert isinstance(answer, Answered), answer
    [lease] = claimed(queue, lease_ms=lease_ms, task_id=answer.task.id)
    return lease


def again(task_id: UUID) -> Assignment:
    """The lease on the next attempt of a waiting task."""
    task = Task.objects.get(id=task_id)
    [lease] = claimed(task.queue, task_id=task.id)
    return lease


def a_report(lease: Assignment, kind: str, **members: Any) -> Report:
    """A worker's report on its lease."""
    usual: dict[str, dict[str, Any]] = {
        "succeed": {"result": '{"done":true}'},
        "fail": {"failure": BROKEN, "is_retryable": False},
    }
    wanted = {
        "attempt_id": lease.attempt_id,
        "lease_token": lease.lease_token,
        "kind": ReportKind(kind),
        **usual.get(kind, {}),
    }
    return Report(**{**wanted, **members})


def reported(lease: Assignment, kind: str, **members: Any) -> TaskRecord | Refusal:
    """What the worker gets for its report."""
    task = Task.objects.get(id=lease.task.id)
    [answer] = report_attempts(
        [a_report(lease, kind, **members)], actor=WORKER, reach=reach_of(task.queue)
    )
    return answer


def report_all(queue: Queue, leases: list[Assignment], kind: str) -> None:
    """One report of this kind on each lease, in batches."""
    for start in range(0, len(leases), 100):
        batch = [a_report(lease, kind) for lease in leases[start : start + 100]]
        report_attempts(batch, actor=WORKER, reach=reach_of(queue))


def cancelled(task_id: UUID, *, reason: str | None = None) -> Answered:
    """What an operator gets for a cancel."""
    return cancel_task(
        CancelTask() if reason is None else CancelTask(reason=reason),
        task_id=task_id,
        identity=an_identity(),
        actor=OPERATOR,
        reach=reach_of(Task.objects.get(id=task_id).queue),
    )


def reviewed(task: Task, *, actor: Actor = OPERATOR, **changes: Any) -> Answered:
    """What an operator gets for a review."""
    identity = changes.pop("identity", None) or an_identity()
    wanted = {
        "expected_revision": str(task.revision),
        "reason": "looked it up",
        "evidence_ref": "evidence:1",
        "execution_settled": True,
        "outcome": "FAILED",
        "result": msgspec.Raw(b'{"confirmed":true}'),
    }
    return review_task(
        ReviewTask(**{**wanted, **changes}),
        task_id=task.id,
        identity=identity,
        actor=actor,
        reach=reach_of(task.queue),
    )


def proposed(task: Task, *, actor: Actor = SUBMITTER, **changes: Any) -> Proposed:
    """What a reviewer gets for a proposal."""
    identity = changes.pop("identity", None) or an_identity()
    wanted = {
        "expected_revision": str(task.revision),
        "reason": "looked it up",
        "evidence_ref": "evidence:1",
        "execution_settled": True,
        "outcome": "FAILED",
        "result": msgspec.Raw(b'{"confirmed":true,"n":9007199254740993}'),
    }
    return propose_review(
        ReviewTask(**{**wanted, **changes}),
        task_id=task.id,
        identity=identity,
        actor=actor,
        reach=reach_of(task.queue),
    )


def approved(
    proposal: ProposalRecord, *, actor: Actor = OPERATOR, **changes: Any
) -> Answered:
    """What a second reviewer gets for an approval."""
    identity = changes.pop("identity", None) or an_identity()
    wanted = {
        "proposal_id": proposal.id.hex,
        "expected_revision": str(proposal.revision),
    }
    return approve_review(
        ApproveReview(**{**wanted, **changes}),
        task_id=proposal.task_id,
        identity=identity,
        actor=actor,
        reach=Reach(namespace_id=proposal.namespace_id, queue_ids=(proposal.queue_id,)),
    )


def withdrawn(
    proposal: ProposalRecord, *, actor: Actor = OPERATOR, **changes: Any
) -> Proposed:
    """What a reviewer gets for taking a proposal back."""
    return withdraw_review(
        WithdrawReview(proposal_id=proposal.id.hex),
        task_id=proposal.task_id,
        identity=changes.pop("identity", None) or an_identity(),
        actor=actor,
        reach=Reach(namespace_id=proposal.namespace_id, queue_ids=(proposal.queue_id,)),
    )


def retried(task: Task, **changes: Any) -> Answered:
    """What an operator gets for a retry."""
    identity = changes.pop("identity", None) or an_identity()
    wanted = {
        "expected_revision": str(task.revision),
        "reason": "the cause is gone",
        "evidence_ref": "evidence:2",
        "safe_to_retry": True,
        "task_timeout_ms": 60_000,
    }
    return retry_task(
        RetryTask(**{**wanted, **changes}),
        task_id=task.id,
        identity=identity,
        actor=OPERATOR,
        reach=reach_of(task.queue),
    )


def a_task(
    *, state: str = "WAITING", queue: Queue | None = None, **changes: Any
) -> Task:
    """A task that came to `state` the way tasks do."""
    queue = queue or a_queue()
    if state in {"WAITING", "CANCELLED"}:
        [answer] = submitted(a_submission(queue, **changes), queue=queue)
        assert isinstance(answer, Answered), answer
        task_id = answer.task.id
        if state == "CANCELLED":
            cancelled(task_id)
        return Task.objects.get(id=task_id)
    lease = a_lease(queue=queue, **changes)
    kind = {"SUCCEEDED": "succeed", "FAILED": "fail", "NEEDS_REVIEW": "unknown"}
    if state in kind:
        reported(lease, kind[state])
    return Task.objects.get(id=lease.task.id)


def pass_time(task_id: UUID, *, by: timedelta) -> None:
    """Let a task and its attempts be as if `by` had passed."""
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE tasks_task SET created_at = created_at - i,"
            " updated_at = updated_at - i, available_at = available_at - i,"
            " due_at = due_at - i, deadline_at = deadline_at - i,"
            " start_deadline_at = start_deadline_at - i"
            " FROM make_interval(secs => %s) i WHERE id = %s",
            [by.total_seconds(), task_id],
        )
        cursor.execute(
            "UPDATE tasks_attempt SET lease_expires_at = lease_expires_at - i,"
            " expires_by = expires_by - i, started_at = started_at - i"
            " FROM make_interval(secs => %s) i WHERE task_id = %s",
            [by.total_seconds(), task_id],
        )


def moment_in(*, seconds: float) -> str:
    """The moment that many seconds from the database's now, as the API writes it."""
    moment = clock.now() + timedelta(seconds=seconds)
    return moment.isoformat().replace("+00:00", "Z")


def lose(lease: Assignment) -> None:
    """Let the lease of an attempt be over, as for a worker that fell silent."""
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE tasks_attempt SET lease_expires_at ="
            " clock_timestamp() - interval '1 millisecond' WHERE id = %s",
            [lease.attempt_id],
        )


def room_of(scope_id: UUID) -> int:
    """How many more tasks a queue or application accepts."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT sum(available)::bigint FROM tasks_quota_share WHERE scope_id = %s",
            [scope_id],
        )
        room: int = cursor.fetchone()[0]
    return room


def every_row() -> list[tuple[str, str]]:
    """Each row of the engine and of the outbox as text, with its table."""
    names = [
        name
        for name in connection.introspection.table_names()
        if name.startswith(("tasks_", "outbox_"))
    ]
    parts = " UNION ALL ".join(f"SELECT '{n}', t::text FROM {n} t" for n in names)
    with connection.cursor() as cursor:
        cursor.execute(f"{parts} ORDER BY 1, 2")
        found: list[tuple[str, str]] = cursor.fetchall()
    return found


def row_of(task_id: UUID) -> dict[str, Any]:
    """Every column of a task."""
    return dict(Task.objects.filter(id=task_id).values().get())
