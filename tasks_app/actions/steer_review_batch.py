"""Let a batch of reviews go on after its first, pause it, resume it, or abort it."""

from uuid import UUID

from django.db import transaction

from tasks_app.domain.access import Actor, Reach
from tasks_app.domain.batches import (
    STEERED,
    BatchCannot,
    BatchNotFound,
    BatchState,
    Steer,
)
from tasks_app.models import ReviewBatch, ReviewBatchEvent
from tasks_app.models.statements.batch import ABORT_ITEMS, LOCK_BATCH, SET_STATE
from tasks_app.models.statements.run import rows


def steer_review_batch(
    steer: Steer, *, batch_id: UUID, actor: Actor, reach: Reach
) -> BatchState:
    """The batch's new state, which holds from its next item on.

    Abort leaves what was settled as it is; everything else is given up, and after it
    nothing more is settled. Raises BatchNotFound or BatchCannot.
    """
    with transaction.atomic(durable=True):
        state = _locked(batch_id, reach)
        if state not in STEERED[steer]:
            raise BatchCannot(steer=steer, state=state)
        goes_to = STEERED[steer][state]
        if steer is Steer.RESUME and _waits_for_a_person(batch_id):
            goes_to = BatchState.CANARY
        if steer is Steer.ABORT:
            rows(ABORT_ITEMS, {"batch": batch_id})
        rows(
            SET_STATE,
            {
                "batch": batch_id,
                "verb": steer,
                "state": goes_to,
                "actor": actor.id,
                "actor_kind": actor.kind,
            },
        )
    return goes_to


def _locked(batch_id: UUID, reach: Reach) -> BatchState:
    for namespace_id, queue_id, state in rows(LOCK_BATCH, {"batch": batch_id}):
        if reach.covers(namespace_id=namespace_id, queue_id=queue_id):
            return BatchState(state)
    raise BatchNotFound


def _waits_for_a_person(batch_id: UUID) -> bool:
    """Whether nobody has let it go on after its canary yet, done or not."""
    if not ReviewBatch.objects.only("canary").get(id=batch_id).canary:
        return False
    return not ReviewBatchEvent.objects.filter(
        batch_id=batch_id, verb=Steer.CONTINUE
    ).exists()
