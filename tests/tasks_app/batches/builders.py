"""Batches as the tests need them, and a look at their counts."""

from uuid import UUID

import msgspec

from orbit.ids import new_id
from tasks_app.actions.create_review_batch import create_review_batch
from tasks_app.actions.steer_review_batch import steer_review_batch
from tasks_app.domain.access import Actor, ActorKind
from tasks_app.domain.batches import ReviewBatchDraft, Steer
from tasks_app.models import (
    ReviewBatch,
    Task,
)
from tasks_app.queries.batches import (
    batch_detail,
)
from tests.builders import (
    a_submission,
    claimed,
    reach_of,
    report_all,
    submitted,
)

RESULT = '{"sequence":9007199254740993,"amount":1.10}'


def actor(user):
    return Actor(id=UUID(int=user.pk), kind=ActorKind.USER)


def uncertain(queue, count, **changes):
    """So many tasks in NEEDS_REVIEW, oldest first."""
    submitted(
        *(a_submission(queue, handler="pay", **changes) for _ in range(count)),
        queue=queue,
    )
    leases = []
    while len(leases) < count:
        leases += claimed(queue)
    report_all(queue, leases, "unknown")
    return list(
        Task.objects.filter(queue=queue, state="NEEDS_REVIEW").order_by(
            "updated_at", "id"
        )
    )


def a_draft(queue, **changes):
    wanted = {
        "queue_id": queue.id.hex,
        "outcome": "FAILED",
        "result": msgspec.Raw(RESULT.encode()),
        "reason": "The bank was down; nothing was booked.",
        "evidence_ref": "ticket:77",
        "execution_settled": True,
        "canary": 0,
    }
    return ReviewBatchDraft(**{**wanted, **changes})


def a_batch(queue, by, *, form_key=None, **changes):
    """The id of a new batch."""
    return create_review_batch(
        a_draft(queue, **changes),
        form_key=form_key or new_id(),
        actor=actor(by),
        reach=reach_of(queue),
    )


def counts(queue, batch_id):
    """How many items are in each state; they add up at every look."""
    detail = batch_detail(reach_of(queue), batch_id)
    assert sum(detail.counts.values()) == detail.batch.total
    return {state: n for state, n in detail.counts.items() if n}


def state_of(batch_id):
    return ReviewBatch.objects.get(id=batch_id).state


def steer(verb, queue, batch_id, by):
    return steer_review_batch(
        Steer(verb), batch_id=batch_id, actor=actor(by), reach=reach_of(queue)
    )
