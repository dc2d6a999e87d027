"""Review the next task of a batch, as the person who created the batch decided."""

from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID

import structlog
from django.db import Error, transaction

from orbit.errors import Forbidden, Refusal
from tasks_app.domain.access import Actor, ActorKind, Reach
from tasks_app.domain.batches import ItemState, item_key, review_of
from tasks_app.domain.commands import ReviewTask
from tasks_app.domain.errors import StateConflict
from tasks_app.domain.idempotency import identify
from tasks_app.domain.recovery import check_review
from tasks_app.models.locking import LockedTask, conflict, lock_task
from tasks_app.models.people import may_review
from tasks_app.models.recovery import REVIEW, check_reviewable
from tasks_app.models.review import conclude
from tasks_app.models.statements.batch import EVIDENCE_COUNT, FINISH_ITEM, NEXT_ITEM
from tasks_app.models.statements.quota import SharesBusy, patiently
from tasks_app.models.statements.run import rows

log = structlog.get_logger("orbit.review_batches")

# Somebody else settled it, or it moved on, after the membership was frozen.
TAKEN = frozenset({"STATE", "REVISION"})
# Somebody holds the task, or a circle of locks was cut here: it can be had later.
HELD_UP = frozenset({"55P03", "40P01"})


class Dealt(NamedTuple):
    """An item that was tried: it is finished, or was held up and still pending."""

    position: int
    is_finished: bool


class _Turn(NamedTuple):
    """A batch's decision, and the item whose turn it is, which is locked."""

    namespace_id: UUID
    queue_id: UUID
    outcome: str
    result: str
    reason: str
    evidence_ref: str
    actor_id: UUID
    actor_kind: str
    item_id: int
    position: int
    task_id: UUID
    expected_revision: int
    own_evidence_ref: str
    evidence_count: int

    @property
    def actor(self) -> Actor:
        return Actor(id=self.actor_id, kind=ActorKind(self.actor_kind))

    @property
    def command(self) -> ReviewTask:
        return review_of(
            revision=self.expected_revision,
            outcome=self.outcome,
            result=self.result,
            reason=self.reason,
            evidence_ref=self.own_evidence_ref or self.evidence_ref,
        )


class _NotReviewed(Exception):
    """Undoes what the turn has done so far."""

    def __init__(self, turn: _Turn, cause: Exception) -> None:
        super().__init__(turn.position)
        self.turn = turn
        self.cause = cause


class _MayNotReview(Forbidden):
    """Who created the batch has lost the right since."""


def review_batch_item(*, batch_id: UUID, held_up: Sequence[int] = ()) -> Dealt | None:
    """What came of the first pending item but those `held_up`; None without one.

    The review and the item's mark are one transaction, so a runner that dies leaves
    the item as it was, for another one. Several runners take different items. Raises
    only what makes any write impossible, such as a database that is away.
    """
    try:
        position = patiently(
            lambda is_patient: _review_next(batch_id, held_up, is_patient=is_patient)
        )
    except _NotReviewed as end:
        return _note(batch_id, end.turn, end.cause)
    return None if position is None else Dealt(position, is_finished=True)


def _review_next(
    batch_id: UUID, held_up: Sequence[int], *, is_patient: bool
) -> int | None:
    found = rows(NEXT_ITEM, {"batch": batch_id, "held_up": list(held_up)})
    if not found:
        return None
    turn = _Turn._make(found[0])
    try:
        audit_id = _review(turn, batch_id=batch_id, is_patient=is_patient)
    except SharesBusy:
        raise
    except Exception as cause:
        raise _NotReviewed(turn, cause) from cause
    _finish(turn, ItemState.SETTLED, audit_id=audit_id)
    return turn.position


def _review(turn: _Turn, *, batch_id: UUID, is_patient: bool) -> UUID:
    """The audit of the item's review, under the rules of any other one."""
    if not may_review(turn.actor):
        raise _MayNotReview("Whoever created the batch may not review any more.")
    command = turn.command
    check_review(command)
    identity = identify(
        key=item_key(batch_id=batch_id, task_id=turn.task_id), content=b"{}"
    )
    locked = lock_task(
        task_id=turn.task_id,
        reach=Reach(namespace_id=turn.namespace_id, queue_ids=(turn.queue_id,)),
        operation=REVIEW,
        identity=identity,
    )
    if locked.receipt is not None:
        return locked.receipt.audit_id
    check_reviewable(locked, command)
    _check_evidence(locked, turn)
    return conclude(
        locked,
        command,
        actor=turn.actor,
        identity=identity,
        is_patient=is_patient,
    ).audit_id


def _check_evidence(locked: LockedTask, turn: _Turn) -> None:
    """Refuse to settle over what nobody knew when the batch was created."""
    if rows(EVIDENCE_COUNT, {"task": turn.task_id})[0][0] != turn.evidence_count:
        raise conflict(
            locked,
            "DOSSIER_CHANGED",
            "Evidence arrived after the batch was created. Read it and decide on this "
            "task alone.",
        )


def _note(batch_id: UUID, turn: _Turn, cause: Exception) -> Dealt:
    if isinstance(cause, Error):
        if getattr(cause.__cause__, "sqlstate", None) not in HELD_UP:
            raise cause
        return Dealt(turn.position, is_finished=False)
    with transaction.atomic(durable=True):
        match cause:
            case StateConflict(details={"reason": reason}):
                state = ItemState.TAKEN if reason in TAKEN else ItemState.REFUSED
                _finish(
                    turn,
                    state,
                    code=str(reason),
                    message=cause.message,
                    audit_id=cause.details.get("audit_id"),
                )
            case Refusal():
                _finish(turn, code=cause.code, message=cause.message)
            case _:
                # One item must not hold up the others, nor the rest of maintenance.
                log.error(
                    "review_not_made",
                    batch_id=batch_id.hex,
                    task_id=turn.task_id.hex,
                    exc_info=cause,
                )
                _finish(turn, code="INTERNAL", message="An error of Orbit's own.")
    return Dealt(turn.position, is_finished=True)


def _finish(
    turn: _Turn,
    state: ItemState = ItemState.REFUSED,
    *,
    code: str = "",
    message: str = "",
    audit_id: object = None,
) -> None:
    rows(
        FINISH_ITEM,
        {
            "item": turn.item_id,
            "state": state,
            "code": code,
            "message": message,
            "audit": audit_id,
        },
    )
