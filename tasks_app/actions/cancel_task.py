"""Cancel a task: at once while it waits, by asking its worker while it runs."""

from uuid import UUID

from orbit.ids import new_id
from tasks_app.domain import lifecycle
from tasks_app.domain.access import Actor, Reach
from tasks_app.domain.commands import CancelTask
from tasks_app.domain.declarations import check_reason
from tasks_app.domain.idempotency import Identity
from tasks_app.domain.lifecycle import State
from tasks_app.models.chain import Audit, head_of, next_link
from tasks_app.models.locking import LockedTask, conflict, lock_task
from tasks_app.models.replay import Answered, replay
from tasks_app.models.settlement import tell_owners
from tasks_app.models.statements.quota import patiently
from tasks_app.models.statements.read import REQUEST_CANCEL
from tasks_app.models.statements.run import rows
from tasks_app.models.transition import (
    ReceiptRow,
    Transition,
    picture,
    write_transitions,
)

OPERATION = "task.cancel"


def cancel_task(
    command: CancelTask,
    *,
    task_id: UUID,
    identity: Identity,
    actor: Actor,
    reach: Reach,
) -> Answered:
    """Cancel a waiting task, or mark a running one so that its worker stops.

    A waiting task whose last attempt is of unknown outcome goes to NEEDS_REVIEW.
    Raises TaskNotFound, IdempotencyConflict, or StateConflict once the task is final,
    needs review, or was asked to cancel before.
    """
    reason = command.reason if isinstance(command.reason, str) else None
    if reason is not None:
        check_reason(reason)
    return patiently(
        lambda is_patient: _cancel(
            reason,
            task_id=task_id,
            identity=identity,
            actor=actor,
            reach=reach,
            is_patient=is_patient,
        )
    )


def _cancel(
    reason: str | None,
    *,
    task_id: UUID,
    identity: Identity,
    actor: Actor,
    reach: Reach,
    is_patient: bool,
) -> Answered:
    locked = lock_task(
        task_id=task_id, reach=reach, operation=OPERATION, identity=identity
    )
    if locked.receipt is not None:
        return replay(locked.receipt)
    _check_cancellable(locked)
    if locked.task.state == State.RUNNING:
        return _request(locked, reason=reason, identity=identity, actor=actor)
    transition = Transition(
        task=locked.task,
        move=lifecycle.cancel_waiting(locked.task.standing),
        action=OPERATION,
        reason=reason,
        receipt=ReceiptRow(
            operation=OPERATION,
            key_digest=identity.key_digest.hex(),
            content_digest=identity.content_digest.hex(),
        ),
    )
    moved = write_transitions(
        [transition], actor=actor, now=locked.now, is_patient=is_patient
    )
    tell_owners(moved)
    return Answered(task=moved[0], audit_id=transition.audit_id, deduplicated=False)


def _check_cancellable(locked: LockedTask) -> None:
    task = locked.task
    if task.state not in {State.WAITING, State.RUNNING}:
        raise conflict(
            locked, "STATE", f"The task is {task.state}: it can no longer be cancelled."
        )
    if task.state == State.RUNNING and task.cancel_requested_at is not None:
        raise conflict(
            locked,
            "STATE",
            "Its worker was asked to stop already. Read the task to see the outcome.",
            action=OPERATION,
        )


def _request(
    locked: LockedTask, *, reason: str | None, identity: Identity, actor: Actor
) -> Answered:
    task = locked.task
    audit_id = new_id()
    audit = Audit(
        id=audit_id,
        action=OPERATION,
        revision=task.revision,
        reason=reason,
        before=picture(task.state, task.revision),
        after=picture(task.state, task.revision, cancel_requested=True),
    )
    link = next_link(audit, task=task, actor=actor, now=locked.now)
    rows(
        REQUEST_CANCEL,
        {
            "task": task.id,
            "now": locked.now,
            "key_digest": identity.key_digest,
            "content_digest": identity.content_digest,
            "actor": actor.id,
            "actor_kind": actor.kind,
            **link,
        },
    )
    asked = task._replace(
        cancel_requested_at=locked.now, updated_at=locked.now, **head_of(link)
    )
    return Answered(task=asked, audit_id=audit_id, deduplicated=False)
