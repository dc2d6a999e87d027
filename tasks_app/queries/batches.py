"""Batches of reviews, their items, and counts that add up at every look."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Q

from tasks_app.domain.access import Reach
from tasks_app.domain.batches import BatchNotFound, ItemState
from tasks_app.models import ReviewBatch, ReviewBatchEvent, ReviewBatchItem
from tasks_app.models.statements.batch import COUNTS
from tasks_app.models.statements.run import rows
from tasks_app.queries import Position

EXPORTED_AT_ONCE = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchDetail:
    """A batch, what was done with it, and how many items are in each state."""

    batch: ReviewBatch
    events: list[ReviewBatchEvent]
    counts: Mapping[ItemState, int]


def batches(*, after: Position | None, limit: int) -> list[ReviewBatch]:
    """Batches, newest first: `limit` of them, and one more if there are more.

    Of all namespaces: for people with the permission. The result is not read.
    """
    found = ReviewBatch.objects.defer("result")
    if after is not None:
        found = found.filter(
            Q(created_at__lt=after.created_at)
            | Q(created_at=after.created_at, id__lt=after.id)
        )
    return list(found.order_by("-created_at", "-id")[: limit + 1])


def namespace_of_batch(batch_id: UUID) -> UUID:
    """The namespace of a batch, for people who may see all; raises BatchNotFound."""
    found: UUID | None = (
        ReviewBatch.objects.filter(id=batch_id)
        .values_list("namespace_id", flat=True)
        .first()
    )
    if found is None:
        raise BatchNotFound
    return found


def batch_detail(reach: Reach, batch_id: UUID) -> BatchDetail:
    """One batch within the reach; raises BatchNotFound. Three statements."""
    batch = ReviewBatch.objects.filter(id=batch_id).first()
    if batch is None or not reach.covers(
        namespace_id=batch.namespace_id, queue_id=batch.queue_id
    ):
        raise BatchNotFound
    counted = {ItemState(state): n for state, n in rows(COUNTS, {"batch": batch_id})}
    return BatchDetail(
        batch=batch,
        events=list(ReviewBatchEvent.objects.filter(batch_id=batch_id).order_by("id")),
        counts={state: counted.get(state, 0) for state in ItemState},
    )


def batch_items(
    batch_id: UUID, *, states: tuple[ItemState, ...], after: int, limit: int
) -> list[ReviewBatchItem]:
    """Items by position after `after`: `limit` of them, and one more if there is."""
    found = ReviewBatchItem.objects.filter(batch_id=batch_id, position__gt=after)
    if states:
        found = found.filter(state__in=states)
    return list(found.order_by("position")[: limit + 1])


def exported_items(
    batch_id: UUID, *, states: tuple[ItemState, ...]
) -> Iterator[dict[str, Any]]:
    """Every such item as a row of an export, in bounded memory."""
    items = ReviewBatchItem.objects.filter(batch_id=batch_id, state__in=states)
    for item in items.order_by("position").iterator(chunk_size=EXPORTED_AT_ONCE):
        yield {
            "position": item.position,
            "task_id": item.task_id.hex,
            "expected_revision": item.expected_revision,
            "state": item.state,
            "code": item.code,
            "message": item.message,
            "audit_id": item.audit_id.hex if item.audit_id else "",
            "finished_at": item.finished_at,
        }
