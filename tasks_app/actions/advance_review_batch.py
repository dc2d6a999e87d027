"""Let a batch wait for a person after its first tasks, or be done after its last."""

from uuid import UUID

from django.db import transaction

from tasks_app.domain.access import ENGINE
from tasks_app.domain.batches import RUNS, BatchState
from tasks_app.models.statements.batch import LEFT, LOCK_BATCH, SET_STATE
from tasks_app.models.statements.run import rows

VERBS = {BatchState.HELD: "hold", BatchState.DONE: "done"}


def advance_review_batch(*, batch_id: UUID) -> BatchState | None:
    """The batch's new state; None while an item of this part of it is pending."""
    with transaction.atomic(durable=True):
        rows(LOCK_BATCH, {"batch": batch_id})
        # A statement of its own, after the lock: a person may have paused it since.
        [(state, has_pending, has_pending_canary)] = rows(LEFT, {"batch": batch_id})
        if state not in RUNS:
            return None
        if not has_pending:
            goes_to = BatchState.DONE
        elif state == BatchState.CANARY and not has_pending_canary:
            goes_to = BatchState.HELD
        else:
            return None
        rows(
            SET_STATE,
            {
                "batch": batch_id,
                "verb": VERBS[goes_to],
                "state": goes_to,
                "actor": ENGINE.id,
                "actor_kind": ENGINE.kind,
            },
        )
    return goes_to
