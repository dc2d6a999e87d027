"""One task under its lock, with what a decision about it must know."""

from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from orbit.transactions import require_transaction
from tasks_app.domain.access import Reach
from tasks_app.domain.duty import ReviewDuty
from tasks_app.domain.errors import StateConflict, TaskNotFound
from tasks_app.domain.idempotency import Identity
from tasks_app.domain.lifecycle import State
from tasks_app.models.record import TaskRecord, task_from
from tasks_app.models.replay import StoredReceipt, stored_receipt
from tasks_app.models.statements.look import LOOK
from tasks_app.models.statements.read import FACTS, LATEST_AUDIT, LOCK_TASK
from tasks_app.models.statements.run import rows


class LockedTask(NamedTuple):
    """A task as it was read; under its lock it stays so until the transaction ends."""

    task: TaskRecord
    now: datetime
    has_active_attempt: bool
    has_permit: bool
    successor_id: UUID | None
    receipt: StoredReceipt | None
    duty: ReviewDuty


def lock_task(
    *, task_id: UUID, reach: Reach, operation: str, identity: Identity
) -> LockedTask:
    """Lock the task, waiting briefly; then look for the receipt of this very write.

    Raises TaskNotFound outside the reach, and a lock timeout when someone holds it.
    """
    require_transaction()
    found = rows(LOCK_TASK, {"task": task_id})
    if not found:
        raise TaskNotFound
    task, now = task_from(found[0]), found[0][-1]
    if not reach.covers(namespace_id=task.namespace_id, queue_id=task.queue_id):
        raise TaskNotFound
    facts = rows(
        FACTS,
        {
            "task": task_id,
            "namespace": task.namespace_id,
            "queue": task.queue_id,
            "operation": operation,
            "key_digest": identity.key_digest,
        },
    )[0]
    receipt = stored_receipt(facts[6:])
    if receipt is not None:
        receipt.check_content(identity)
    has_active_attempt, has_permit, successor_id = facts[:3]
    return LockedTask(
        task,
        now,
        has_active_attempt,
        has_permit,
        successor_id,
        receipt,
        ReviewDuty(*facts[3:6]),
    )


def look_at_task(*, task_id: UUID, reach: Reach) -> LockedTask:
    """The task and the same facts of one moment, without a lock and without a receipt.

    For what only foretells: it may be another task a moment later. Raises
    TaskNotFound outside the reach.
    """
    found = rows(LOOK, {"task": task_id})
    if not found:
        raise TaskNotFound
    task = task_from(found[0])
    if not reach.covers(namespace_id=task.namespace_id, queue_id=task.queue_id):
        raise TaskNotFound
    now, has_active_attempt, has_permit, successor_id, *duty = found[0][
        len(TaskRecord._fields) :
    ]
    return LockedTask(
        task,
        now,
        has_active_attempt,
        has_permit,
        successor_id,
        None,
        ReviewDuty(*duty),
    )


def conflict(
    locked: LockedTask, reason: str, message: str, *, action: str | None = None
) -> StateConflict:
    """The refusal with the present state and the act that brought it about.

    `action` narrows the search for that act; without it the latest one is named.
    """
    audits = rows(LATEST_AUDIT, {"task": locked.task.id, "action": action})
    return StateConflict(
        reason,
        message,
        state=State(locked.task.state),
        revision=locked.task.revision,
        audit=audits[0] if audits else None,
        successor_id=locked.successor_id,
    )


def check_revision(locked: LockedTask, expected: str) -> None:
    """Refuse a decision that was made on an older picture of the task."""
    if int(expected) != locked.task.revision:
        raise conflict(
            locked,
            "REVISION",
            f"The task is at revision {locked.task.revision}, not {expected}. Read it "
            "again and decide anew.",
        )


def check_idle(locked: LockedTask) -> None:
    """Refuse while an attempt or a permit of the task is still held."""
    if locked.has_active_attempt or locked.task.lease_attempt_id is not None:
        raise conflict(
            locked, "LEASE", "An attempt still holds the lease. Wait for it to end."
        )
    if locked.has_permit:
        raise conflict(
            locked, "PERMIT", "A permit is not released yet. Ask again in a moment."
        )
