"""A person settles a task whose outcome nobody knew."""

from uuid import UUID

from orbit.exact_json import digest
from tasks_app.domain import lifecycle
from tasks_app.domain.access import Actor, Reach
from tasks_app.domain.commands import MAX_RESULT_BYTES, ReviewTask
from tasks_app.domain.declarations import (
    check_declared,
    check_evidence_ref,
    check_reason,
    check_size,
)
from tasks_app.domain.errors import InvalidField
from tasks_app.domain.idempotency import Identity
from tasks_app.domain.lifecycle import State
from tasks_app.domain.ownership import policy_for
from tasks_app.models.locking import (
    LockedTask,
    check_idle,
    check_revision,
    conflict,
    lock_task,
)
from tasks_app.models.replay import Answered, replay
from tasks_app.models.settlement import tell_owners
from tasks_app.models.statements.quota import patiently
from tasks_app.models.transition import ReceiptRow, Transition, write_transitions

OPERATION = "task.review"


def review_task(
    command: ReviewTask,
    *,
    task_id: UUID,
    identity: Identity,
    actor: Actor,
    reach: Reach,
) -> Answered:
    """Settle a NEEDS_REVIEW task as SUCCEEDED or FAILED (spec, section 2).

    The same key and content again answers the first receipt, whatever the task is now.
    Raises Invalid, TaskNotFound, IdempotencyConflict or StateConflict; then nothing is
    written.
    """
    _check_shape(command)
    return patiently(
        lambda is_patient: _review(
            command,
            task_id=task_id,
            identity=identity,
            actor=actor,
            reach=reach,
            is_patient=is_patient,
        )
    )


def _check_shape(command: ReviewTask) -> None:
    check_reason(command.reason)
    check_evidence_ref(command.evidence_ref)
    check_declared(
        "execution_settled",
        is_declared=command.execution_settled,
        meaning="every execution of the past has ended and has no further effect",
    )
    result = bytes(command.result)
    if result.strip() == b"null":
        raise InvalidField("result", "State the conclusion; null is not a result.")
    check_size("result", result, limit=MAX_RESULT_BYTES)


def _review(
    command: ReviewTask,
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
    _check_reviewable(locked, command)
    result = bytes(command.result).decode()
    transition = Transition(
        task=locked.task,
        move=lifecycle.settle(
            locked.task.standing, outcome=State(command.outcome), result=result
        ),
        action=OPERATION,
        reason=command.reason,
        evidence_ref=command.evidence_ref,
        after={
            "effect_uncertain": False,
            "execution_settled": True,
            "result_digest": digest(result),
        },
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


def _check_reviewable(locked: LockedTask, command: ReviewTask) -> None:
    task = locked.task
    if task.state != State.NEEDS_REVIEW:
        raise conflict(
            locked,
            "STATE",
            f"Only a task in NEEDS_REVIEW can be reviewed; this one is {task.state}.",
        )
    check_revision(locked, command.expected_revision)
    if task.is_gated:
        raise conflict(
            locked, "GATE", "The task waits behind a gate: its owner must open it."
        )
    refusal = policy_for(task.owner).refuse_review(
        task_id=task.id, owner_id=task.owner_id
    )
    if refusal is not None:
        raise conflict(locked, "OWNER", refusal)
    check_idle(locked)
