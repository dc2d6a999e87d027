"""A person settles a task whose outcome nobody knew."""

from uuid import UUID

from tasks_app.domain.access import Actor, Reach
from tasks_app.domain.commands import ReviewTask
from tasks_app.domain.idempotency import Identity
from tasks_app.models.locking import conflict, lock_task
from tasks_app.models.replay import Answered, replay
from tasks_app.models.review import (
    Conclusion,
    check_review,
    check_reviewable,
    settle,
)
from tasks_app.models.statements.quota import patiently

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
    Raises Invalid, TaskNotFound, IdempotencyConflict, StateConflict or
    ReviewNotAllowed; then nothing is written.
    """
    check_review(command)
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
    check_reviewable(locked, command.expected_revision)
    locked.duty.check_reviewer(actor, submitted_by=locked.task.submitted_by)
    if locked.duty.second_approver:
        raise conflict(
            locked,
            "SECOND_APPROVER",
            "This queue wants two people for a review: send the same body to "
            ":propose-review, and let another reviewer approve it.",
        )
    conclusion = Conclusion(
        outcome=command.outcome,
        result=bytes(command.result).decode(),
        reason=command.reason,
        evidence_ref=command.evidence_ref,
        actor=actor,
    )
    return settle(
        locked, conclusion, action=OPERATION, identity=identity, is_patient=is_patient
    )
