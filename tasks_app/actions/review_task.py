"""A person settles a task whose outcome nobody knew."""

from uuid import UUID

from tasks_app.domain.access import Actor, Reach
from tasks_app.domain.commands import ReviewTask
from tasks_app.domain.idempotency import Identity
from tasks_app.domain.recovery import check_review
from tasks_app.models.locking import lock_task
from tasks_app.models.recovery import REVIEW, check_reviewable
from tasks_app.models.replay import Answered, replay
from tasks_app.models.review import conclude
from tasks_app.models.statements.quota import patiently


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
    Raises Invalid, TaskNotFound, IdempotencyConflict, StateConflict (DossierChanged
    when the dossier that it was decided on is not the present one) or ReviewNotAllowed;
    then nothing is written.
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
        task_id=task_id, reach=reach, operation=REVIEW, identity=identity
    )
    if locked.receipt is not None:
        return replay(locked.receipt)
    check_reviewable(locked, command)
    return conclude(
        locked, command, actor=actor, identity=identity, is_patient=is_patient
    )
