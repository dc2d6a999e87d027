"""Decide about many tasks at once: the batch, with its membership frozen."""

from typing import Any
from uuid import UUID

from django.db import transaction

from orbit.errors import Invalid
from orbit.exact_json import canonical, encode
from orbit.ids import new_id
from tasks_app.domain.access import Actor, Reach
from tasks_app.domain.batches import (
    MAX_ITEMS,
    BatchState,
    BatchWantsTwo,
    ChosenBy,
    ReviewBatchDraft,
    check_draft,
)
from tasks_app.domain.causes import CAUSES
from tasks_app.domain.errors import IdempotencyConflict, QueueNotFound
from tasks_app.domain.idempotency import Identity, identify
from tasks_app.models import Queue
from tasks_app.models.statements.batch import (
    FREEZE_BY_CAUSE,
    FREEZE_BY_HAND,
    MADE_BEFORE,
    NAMED_AND_WAITING,
)
from tasks_app.models.statements.run import as_json, rows


def create_review_batch(
    draft: ReviewBatchDraft, *, form_key: UUID, actor: Actor, reach: Reach
) -> UUID:
    """The id of the new batch; of the one that this key made before, if it did.

    Nothing is reviewed yet. Raises QueueNotFound; BatchWantsTwo where a review takes
    two people; IdempotencyConflict when the key made a batch of another decision or for
    somebody else; or Invalid: a decision that no review would take, no task to decide
    about, more than MAX_ITEMS, or one that is chosen by hand and does not await a
    review in this queue.
    """
    queue_id = UUID(draft.queue_id)
    if not reach.covers(namespace_id=reach.namespace_id, queue_id=queue_id):
        raise QueueNotFound
    queue = Queue.objects.filter(id=queue_id, namespace_id=reach.namespace_id).first()
    if queue is None:
        raise QueueNotFound
    check_draft(draft)
    identity = _identity(draft, form_key=form_key, actor=actor)
    place = {"namespace": reach.namespace_id, "queue": queue_id, "form_key": form_key}
    # Asked first: by now its tasks may be settled, and none left to choose.
    earlier = _made_before(place, identity)
    if earlier is not None:
        return earlier
    if queue.second_approver:
        raise BatchWantsTwo
    with transaction.atomic(durable=True):
        size, batch_id = _freeze(draft, place=place, identity=identity, actor=actor)
    if batch_id is None:
        # Somebody else's same click was faster; else it was refused.
        batch_id = _made_before(place, identity)
    if batch_id is None:
        raise _why_none(draft, place=place, size=size)
    return batch_id


def _identity(draft: ReviewBatchDraft, *, form_key: UUID, actor: Actor) -> Identity:
    content = encode({"actor": actor.id, "kind": actor.kind, "draft": draft})
    return identify(key=form_key.hex, content=canonical(content))


def _made_before(place: dict[str, Any], identity: Identity) -> UUID | None:
    found = rows(MADE_BEFORE, place)
    if not found:
        return None
    batch_id, content_digest = found[0]
    if bytes(content_digest) != identity.content_digest:
        raise IdempotencyConflict
    return UUID(int=batch_id.int)


def _freeze(
    draft: ReviewBatchDraft, *, place: dict[str, Any], identity: Identity, actor: Actor
) -> tuple[int, UUID | None]:
    """How many tasks there were, and the batch of them if it was written."""
    size, batch_id = rows(
        FREEZE_BY_HAND if draft.tasks else FREEZE_BY_CAUSE,
        {
            **place,
            "id": new_id(),
            "state": BatchState.CANARY if draft.canary else BatchState.RUNNING,
            "outcome": draft.outcome,
            "result": bytes(draft.result).decode(),
            "reason": draft.reason,
            "evidence_ref": draft.evidence_ref,
            "chosen_by": _chosen_by(draft),
            "canary": draft.canary,
            "actor": actor.id,
            "actor_kind": actor.kind,
            "content_digest": identity.content_digest,
            "most": MAX_ITEMS,
            "handler": draft.handler,
            "error_code": draft.error_code,
            "cause": draft.cause,
            "causes": as_json(CAUSES),
            "min_age_ms": draft.min_age_ms,
            "max_age_ms": draft.max_age_ms,
            "named": len(draft.tasks) or None,
            "tasks": as_json(
                [
                    {"task_id": UUID(it.task_id), "evidence_ref": it.evidence_ref}
                    for it in draft.tasks
                ]
            ),
        },
    )[0]
    return size, batch_id


def _why_none(draft: ReviewBatchDraft, *, place: dict[str, Any], size: int) -> Invalid:
    if draft.tasks:
        return _not_waiting(draft, place=place)
    if size:
        return Invalid(
            f"More than {MAX_ITEMS} tasks. Narrow the cause, or take several batches.",
            field="handler",
        )
    return Invalid("No task of that cause awaits a review.", field="handler")


def _not_waiting(draft: ReviewBatchDraft, *, place: dict[str, Any]) -> Invalid:
    named = [UUID(it.task_id) for it in draft.tasks]
    waiting = {row[0] for row in rows(NAMED_AND_WAITING, {**place, "tasks": named})}
    for number, task_id in enumerate(named):
        if task_id not in waiting:
            return Invalid(
                f"The task {task_id.hex} does not await a review in this queue.",
                field=f"tasks.{number}.task_id",
            )
    return Invalid("The tasks have changed meanwhile. Send it again.", field="tasks")


def _chosen_by(draft: ReviewBatchDraft) -> str:
    return encode(
        ChosenBy(
            by_hand=bool(draft.tasks),
            handler=draft.handler,
            cause=draft.cause,
            error_code=draft.error_code,
            min_age_ms=draft.min_age_ms,
            max_age_ms=draft.max_age_ms,
        )
    ).decode()
