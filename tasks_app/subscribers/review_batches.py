"""Work through batches of reviews: a maintenance pass, one review after another."""

from typing import NamedTuple
from uuid import UUID

import structlog
from django.db import Error, transaction

from orbit.errors import Refusal, Unavailable
from tasks_app.actions.review_task import review_task
from tasks_app.domain.access import ENGINE, Actor, ActorKind, Reach
from tasks_app.domain.batches import (
    RUNS,
    BatchState,
    ItemState,
    item_key,
    review_of,
)
from tasks_app.domain.errors import StateConflict
from tasks_app.domain.idempotency import identify
from tasks_app.models.people import may_review
from tasks_app.models.statements.batch import (
    END_RUN,
    FINISH_ITEM,
    LOCK_BATCH,
    NEXT_ITEM,
    RUNNING,
    SET_STATE,
    TRY_RUN,
)
from tasks_app.models.statements.run import rows

log = structlog.get_logger("orbit.review_batches")

BATCHES = 20
# Somebody else settled it, or it moved on, after the membership was frozen.
TAKEN = frozenset({"STATE", "REVISION"})


class _Turn(NamedTuple):
    """The batch as it stands, and its next pending item; item_id None when none is."""

    namespace_id: UUID
    queue_id: UUID
    state: str
    outcome: str
    result: str
    reason: str
    evidence_ref: str
    canary: int
    actor_id: UUID
    actor_kind: str
    item_id: int | None
    position: int
    task_id: UUID
    expected_revision: int
    own_evidence_ref: str | None

    @property
    def actor(self) -> Actor:
        return Actor(id=self.actor_id, kind=ActorKind(self.actor_kind))


class _Finish(NamedTuple):
    """What became of an item."""

    state: ItemState
    code: str = ""
    message: str = ""
    audit_id: UUID | None = None


def run_review_batches(*, limit: int) -> int:
    """Review up to `limit` items of the batches that run, oldest batch first.

    A batch is worked through by one runner at a time. Killed anywhere, the next one
    goes on: an item's review has a key of its own, so it is made once.
    """
    done = 0
    for (batch_id,) in rows(RUNNING, {"limit": BATCHES}):
        if done >= limit:
            break
        done += _run(batch_id, limit=limit - done)
    return done


def _run(batch_id: UUID, *, limit: int) -> int:
    if not rows(TRY_RUN, {"batch": batch_id})[0][0]:
        return 0
    done = 0
    while done < limit and _step(batch_id):
        done += 1
    # After an error the lock goes with the session, or is this runner's own again.
    rows(END_RUN, {"batch": batch_id})
    return done


def _step(batch_id: UUID) -> bool:
    """Whether an item was reviewed; False when the batch is not to go on now."""
    turn = _Turn._make(rows(NEXT_ITEM, {"batch": batch_id})[0])
    if turn.state not in RUNS:
        return False
    if turn.item_id is None:
        return _move(batch_id, to=BatchState.DONE)
    if turn.state == BatchState.CANARY and turn.position > turn.canary:
        return _move(batch_id, to=BatchState.HELD)
    finish = _review(batch_id, turn)
    rows(
        FINISH_ITEM,
        {
            "item": turn.item_id,
            "state": finish.state,
            "code": finish.code,
            "message": finish.message,
            "audit": finish.audit_id,
        },
    )
    return True


def _review(batch_id: UUID, turn: _Turn) -> _Finish:
    # Who decided may have lost the right since.
    if not may_review(turn.actor):
        return _Finish(
            ItemState.REFUSED,
            code="FORBIDDEN",
            message="Whoever created the batch may not review any more.",
        )
    try:
        answered = review_task(
            review_of(
                revision=turn.expected_revision,
                outcome=turn.outcome,
                result=turn.result,
                reason=turn.reason,
                evidence_ref=turn.own_evidence_ref or turn.evidence_ref,
            ),
            task_id=turn.task_id,
            identity=identify(
                key=item_key(batch_id=batch_id, task_id=turn.task_id), content=b"{}"
            ),
            actor=turn.actor,
            reach=Reach(namespace_id=turn.namespace_id, queue_ids=(turn.queue_id,)),
        )
    except (Unavailable, Error):
        raise
    except StateConflict as conflict:
        return _refused(conflict)
    except Refusal as refusal:
        return _Finish(ItemState.REFUSED, refusal.code, refusal.message)
    except Exception:
        # One item must not hold up the others, nor the rest of maintenance.
        log.exception("review_not_made", task_id=turn.task_id.hex)
        return _Finish(ItemState.REFUSED, "INTERNAL", "An error of Orbit's own.")
    return _Finish(ItemState.SETTLED, audit_id=answered.audit_id)


def _refused(conflict: StateConflict) -> _Finish:
    reason, audit_id = str(conflict.details["reason"]), conflict.details.get("audit_id")
    return _Finish(
        ItemState.TAKEN if reason in TAKEN else ItemState.REFUSED,
        code=reason,
        message=conflict.message,
        audit_id=audit_id if isinstance(audit_id, UUID) else None,
    )


def _move(batch_id: UUID, *, to: BatchState) -> bool:
    with transaction.atomic(durable=True):
        # A person may have paused it a moment ago.
        if rows(LOCK_BATCH, {"batch": batch_id})[0][1] in RUNS:
            rows(
                SET_STATE,
                {
                    "batch": batch_id,
                    "verb": "hold" if to is BatchState.HELD else "done",
                    "state": to,
                    "actor": ENGINE.id,
                    "actor_kind": ENGINE.kind,
                },
            )
    return False
