"""Decide about many tasks at once: the batch, with its membership frozen."""

from typing import Any
from uuid import UUID

from django.db import transaction

from orbit.errors import Invalid
from orbit.exact_json import encode
from orbit.ids import new_id
from tasks_app.domain.access import Actor, Reach
from tasks_app.domain.batches import MAX_ITEMS, BatchState, ReviewBatchDraft
from tasks_app.domain.causes import CAUSES
from tasks_app.domain.errors import InvalidField, QueueNotFound
from tasks_app.domain.recovery import check_review
from tasks_app.models import Queue, ReviewBatch
from tasks_app.models.statements.batch import (
    ADD_BATCH,
    ADD_EVENT,
    ADD_ITEMS,
    CHOSEN_BY_CAUSE,
    CHOSEN_BY_HAND,
)
from tasks_app.models.statements.run import as_json, rows


def create_review_batch(
    draft: ReviewBatchDraft, *, form_key: UUID, actor: Actor, reach: Reach
) -> UUID:
    """The id of the new batch; of the one that this key made before, if it did.

    Nothing is reviewed yet. Raises QueueNotFound, or Invalid: a decision that no review
    would take, no task to decide about, more than MAX_ITEMS, or one that is chosen by
    hand and does not await a review in this queue.
    """
    queue_id = UUID(draft.queue_id)
    if not reach.covers(namespace_id=reach.namespace_id, queue_id=queue_id):
        raise QueueNotFound
    if not Queue.objects.filter(id=queue_id, namespace_id=reach.namespace_id).exists():
        raise QueueNotFound
    check_review(draft.review(revision=1, evidence_ref=None))
    if not draft.execution_settled:
        raise InvalidField(
            "execution_settled", "Declare that every execution of them has ended."
        )
    with transaction.atomic(durable=True):
        items = _chosen(draft, namespace_id=reach.namespace_id, queue_id=queue_id)
        batch_id = new_id()
        state = BatchState.CANARY if draft.canary else BatchState.RUNNING
        added = rows(
            ADD_BATCH,
            {
                "id": batch_id,
                "namespace": reach.namespace_id,
                "queue": queue_id,
                "state": state,
                "outcome": draft.outcome,
                "result": bytes(draft.result).decode(),
                "reason": draft.reason,
                "evidence_ref": draft.evidence_ref,
                "cause": _cause(draft),
                "canary": draft.canary,
                "total": len(items),
                "actor": actor.id,
                "actor_kind": actor.kind,
                "form_key": form_key,
            },
        )
        if not added:
            return _earlier(form_key, namespace_id=reach.namespace_id)
        rows(ADD_ITEMS, {"batch": batch_id, "items": as_json(items)})
        rows(
            ADD_EVENT,
            {
                "batch": batch_id,
                "verb": "create",
                "state": state,
                "actor": actor.id,
                "actor_kind": actor.kind,
            },
        )
    return batch_id


def _earlier(form_key: UUID, *, namespace_id: UUID) -> UUID:
    return ReviewBatch.objects.values_list("id", flat=True).get(
        namespace_id=namespace_id, form_key=form_key
    )


def _chosen(
    draft: ReviewBatchDraft, *, namespace_id: UUID, queue_id: UUID
) -> list[dict[str, Any]]:
    wanted = {
        "namespace": namespace_id,
        "queue": queue_id,
        "limit": MAX_ITEMS + 1,
        "handler": draft.handler,
        "cause": draft.cause,
        "causes": as_json(CAUSES),
    }
    if draft.tasks:
        given = [
            {"task_id": UUID(it.task_id), "evidence_ref": it.evidence_ref}
            for it in draft.tasks
        ]
        found = rows(CHOSEN_BY_HAND, {**wanted, "tasks": as_json(given)})
        _check_all_found(draft, {row[0] for row in found})
    else:
        found = rows(CHOSEN_BY_CAUSE, wanted)
    if not found:
        raise Invalid("No task of that cause awaits a review.", field="handler")
    if len(found) > MAX_ITEMS:
        raise Invalid(
            f"More than {MAX_ITEMS} tasks. Narrow the cause, or take several batches.",
            field="handler",
        )
    return [
        {
            "position": position,
            "task_id": task_id,
            "revision": revision,
            "evidence_ref": evidence_ref,
        }
        for position, (task_id, revision, evidence_ref) in enumerate(found, start=1)
    ]


def _check_all_found(draft: ReviewBatchDraft, found: set[UUID]) -> None:
    wanted = [UUID(it.task_id) for it in draft.tasks]
    if len(set(wanted)) < len(wanted):
        raise Invalid("A task is named twice.", field="tasks")
    for number, task_id in enumerate(wanted):
        if task_id not in found:
            raise Invalid(
                f"The task {task_id.hex} does not await a review in this queue.",
                field=f"tasks.{number}.task_id",
            )


def _cause(draft: ReviewBatchDraft) -> str:
    return encode(
        {
            "handler": draft.handler,
            "cause": draft.cause,
            "by_hand": bool(draft.tasks),
        }
    ).decode()
