"""The way of a batch: canary, pause, resume, abort, and its part of a pass."""

import pytest

from orbit.errors import Conflict
from tasks_app.domain.batches import BatchNotFound, ItemState
from tasks_app.models import (
    Task,
)
from tasks_app.queries.batches import (
    batch_detail,
)
from tasks_app.subscribers.review_batches import run_review_batches
from tests.builders import (
    a_queue,
    reach_of,
)
from tests.tasks_app.batches.builders import a_batch, counts, state_of, steer, uncertain

pytestmark = pytest.mark.django_db


def test_the_first_ones_are_done_and_then_a_person_is_asked(ada):
    queue = a_queue()
    uncertain(queue, 6)
    batch_id = a_batch(queue, ada, canary=2)

    run_review_batches(limit=100)
    run_review_batches(limit=100)

    assert state_of(batch_id) == "HELD"
    assert counts(queue, batch_id) == {ItemState.SETTLED: 2, ItemState.PENDING: 4}
    steer("continue", queue, batch_id, ada)
    run_review_batches(limit=100)
    run_review_batches(limit=100)
    assert counts(queue, batch_id) == {ItemState.SETTLED: 6}
    verbs = [it.verb for it in batch_detail(reach_of(queue), batch_id).events]
    assert verbs == ["create", "hold", "continue", "done"]


def test_paused_it_rests_and_resumed_it_goes_on_where_it_was(ada):
    queue = a_queue()
    uncertain(queue, 4)
    batch_id = a_batch(queue, ada, canary=3)
    run_review_batches(limit=1)

    steer("pause", queue, batch_id, ada)
    assert run_review_batches(limit=100) == 0
    assert steer("resume", queue, batch_id, ada) == "CANARY"
    run_review_batches(limit=100)

    assert counts(queue, batch_id) == {ItemState.SETTLED: 3, ItemState.PENDING: 1}


def test_paused_after_its_first_ones_it_still_asks_a_person(ada):
    queue = a_queue()
    uncertain(queue, 3)
    batch_id = a_batch(queue, ada, canary=2)
    run_review_batches(limit=2)

    steer("pause", queue, batch_id, ada)
    assert steer("resume", queue, batch_id, ada) == "CANARY"
    run_review_batches(limit=100)

    assert state_of(batch_id) == "HELD"
    assert counts(queue, batch_id) == {ItemState.SETTLED: 2, ItemState.PENDING: 1}
    steer("continue", queue, batch_id, ada)
    steer("pause", queue, batch_id, ada)
    assert steer("resume", queue, batch_id, ada) == "RUNNING"


def test_a_canary_of_all_is_done_without_a_person(ada):
    queue = a_queue()
    uncertain(queue, 2)
    batch_id = a_batch(queue, ada, canary=2)
    run_review_batches(limit=100)
    assert state_of(batch_id) == "DONE"


def test_aborted_it_leaves_the_rest_alone(ada):
    queue = a_queue()
    uncertain(queue, 4)
    batch_id = a_batch(queue, ada)
    run_review_batches(limit=1)

    steer("abort", queue, batch_id, ada)

    assert run_review_batches(limit=100) == 0
    assert counts(queue, batch_id) == {ItemState.SETTLED: 1, ItemState.ABORTED: 3}
    assert Task.objects.filter(queue=queue, state="NEEDS_REVIEW").count() == 3
    with pytest.raises(Conflict, match="ABORTED cannot resume"):
        steer("resume", queue, batch_id, ada)


def test_batches_share_a_pass(ada):
    queue = a_queue()
    uncertain(queue, 12)
    long = a_batch(queue, ada)
    other = a_queue()
    uncertain(other, 2)
    short = a_batch(other, ada)

    assert run_review_batches(limit=6) == 5

    assert counts(queue, long) == {ItemState.SETTLED: 3, ItemState.PENDING: 9}
    assert state_of(short) == "DONE"


@pytest.mark.parametrize("is_same_tenant", [False, True])
def test_a_batch_out_of_reach_is_not_there(ada, is_same_tenant):
    queue = a_queue()
    uncertain(queue, 1)
    batch_id = a_batch(queue, ada)
    other = a_queue(application=queue.application if is_same_tenant else None)
    with pytest.raises(BatchNotFound):
        steer("abort", other, batch_id, ada)
    with pytest.raises(BatchNotFound):
        batch_detail(reach_of(other), batch_id)
    assert state_of(batch_id) == "RUNNING"
