"""Batches with several runners, lookers and people at once."""

import threading
from contextlib import contextmanager

import pytest
from django.db import connection, connections, transaction

from orbit.ids import new_id
from tasks_app.domain.batches import ItemState
from tasks_app.models import (
    OperationAudit,
    ReviewBatchEvent,
    Task,
)
from tasks_app.queries.batches import (
    exported_items,
)
from tasks_app.subscribers.review_batches import run_review_batches
from tests.builders import (
    a_queue,
    a_task,
    reviewed,
)
from tests.live import eventually
from tests.tasks_app.batches.builders import a_batch, counts, state_of, steer, uncertain

pytestmark = pytest.mark.django_db(transaction=True)


def at_once(*acts):
    """Run these in threads of their own, begun at the same moment."""
    ready = threading.Barrier(len(acts))

    def run(act):
        ready.wait()
        try:
            act()
        finally:
            connections["default"].close()

    threads = [threading.Thread(target=run, args=(act,)) for act in acts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_two_runners_at_once_review_each_task_once(ada):
    queue = a_queue()
    uncertain(queue, 60)
    batch_id = a_batch(queue, ada)
    looks = []

    def run():
        while state_of(batch_id) != "DONE":
            run_review_batches(limit=5)

    def look():
        while state_of(batch_id) != "DONE":
            looks.append(counts(queue, batch_id))

    at_once(run, run, look)

    assert len(looks) > 3, "they add up while it runs"
    assert counts(queue, batch_id) == {ItemState.SETTLED: 60}
    assert OperationAudit.objects.filter(action="task.review").count() == 60
    done = ReviewBatchEvent.objects.filter(batch_id=batch_id, verb="done")
    assert done.count() == 1


def test_a_form_that_is_sent_many_times_at_once_makes_one_batch(ada):
    queue, key, made = a_queue(), new_id(), []
    uncertain(queue, 20)

    at_once(*[lambda: made.append(a_batch(queue, ada, form_key=key))] * 6)

    assert len(made) == 6
    assert len(set(made)) == 1
    assert counts(queue, made[0]) == {ItemState.PENDING: 20}


@contextmanager
def held(task):
    """Somebody else holds the task's lock; the runners here soon give up."""
    with connection.cursor() as cursor:
        cursor.execute("SET lock_timeout = 100")
    held_by, let_go = threading.Event(), threading.Event()

    def hold():
        with transaction.atomic():
            Task.objects.select_for_update().get(id=task.id)
            held_by.set()
            let_go.wait(timeout=30)
        connections["default"].close()

    holder = threading.Thread(target=hold)
    holder.start()
    try:
        assert held_by.wait(timeout=30)
        yield
    finally:
        let_go.set()
        holder.join()
        with connection.cursor() as cursor:
            cursor.execute("RESET lock_timeout")


def test_a_task_that_somebody_holds_holds_up_no_other(ada):
    queue = a_queue()
    tasks = uncertain(queue, 4)
    batch_id = a_batch(queue, ada)

    with held(tasks[1]):
        assert run_review_batches(limit=100) == 3
        assert run_review_batches(limit=100) == 0
        assert counts(queue, batch_id) == {ItemState.SETTLED: 3, ItemState.PENDING: 1}
        assert state_of(batch_id) == "RUNNING"
    run_review_batches(limit=100)
    run_review_batches(limit=100)

    assert counts(queue, batch_id) == {ItemState.SETTLED: 4}
    assert state_of(batch_id) == "DONE"


@pytest.mark.parametrize("verb", ["pause", "abort"])
def test_a_running_batch_is_stopped_between_two_items(ada, verb):
    queue = a_queue()
    uncertain(queue, 60)
    batch_id = a_batch(queue, ada)
    at_stop = []

    def stop():
        eventually(lambda: ItemState.SETTLED in counts(queue, batch_id))
        steer(verb, queue, batch_id, ada)
        at_stop.append(counts(queue, batch_id))

    at_once(lambda: run_review_batches(limit=60), stop)

    found = counts(queue, batch_id)
    left = ItemState.PENDING if verb == "pause" else ItemState.ABORTED
    assert set(found) <= {ItemState.SETTLED, left}
    # A pause lets the item that is under way come to its end; an abort waits for it.
    under_way = found[ItemState.SETTLED] - at_stop[0][ItemState.SETTLED]
    assert under_way <= (1 if verb == "pause" else 0)
    reviews = OperationAudit.objects.filter(action="task.review").count()
    assert reviews == found[ItemState.SETTLED]
    assert state_of(batch_id) in {"PAUSED", "ABORTED"}


def test_a_thousand_with_seven_taken_and_three_refused_add_up(ada):
    queue = a_queue(max_outstanding=2_000)
    tasks = uncertain(queue, 997)
    owned = [a_task(state="NEEDS_REVIEW", queue=queue, owner="WORKFLOW") for _ in "abc"]
    batch_id = a_batch(queue, ada)
    for task in tasks[10:17]:
        reviewed(task, outcome="SUCCEEDED")

    looks = []

    def run():
        while state_of(batch_id) != "DONE":
            run_review_batches(limit=200)

    def look():
        while state_of(batch_id) != "DONE":
            looks.append(counts(queue, batch_id))
            threading.Event().wait(timeout=0.03)  # leave the runners room

    at_once(run, run, look)

    assert len(looks) > 20, "they add up all the while"
    assert counts(queue, batch_id) == {
        ItemState.SETTLED: 990,
        ItemState.TAKEN: 7,
        ItemState.REFUSED: 3,
    }
    refused = list(exported_items(batch_id, states=(ItemState.REFUSED,)))
    assert {it["task_id"] for it in refused} == {it.id.hex for it in owned}
    assert {it["code"] for it in refused} == {"OWNER"}
    taken = list(exported_items(batch_id, states=(ItemState.TAKEN,)))
    assert all(it["audit_id"] for it in taken)
    assert OperationAudit.objects.filter(action="task.review").count() == 997
