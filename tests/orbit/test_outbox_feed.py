"""The feed: every event once and in one order, whenever its writer commits."""

import json

import pytest

from orbit.ids import new_id
from orbit.outbox.feed import Position, events_after
from tests.builders import a_queue, a_task, a_token, reviewed
from tests.live import eventually
from tests.tasks_app.api.calls import Caller
from tests.tokens_app.builders import another_connection

# An event is delivered only once its transaction has ended: these commit for real.
pytestmark = pytest.mark.django_db(transaction=True)

START = Position(0, 0)
INSERT = (
    "INSERT INTO outbox_result_event (namespace_id, queue_id, task_id, revision, kind,"
    " payload, transaction_id, created_at) VALUES (%s, %s, %s, 1, 'task.test',"
    " '\"late\"', pg_current_xact_id()::text::bigint, clock_timestamp())"
)


def feed(queue, *, after=START, limit=500, queue_ids=None):
    return events_after(
        namespace_id=queue.namespace_id,
        queue_ids=queue_ids,
        position=after,
        limit=limit,
    )


def whole_feed(queue, count):
    """The feed once it has that many events; other sessions may hold it back."""
    return eventually(lambda: found if len(found := feed(queue)) >= count else None)


def test_an_event_that_commits_late_is_never_skipped():
    queue = a_queue()
    first = a_task(queue=queue)
    [seen] = whole_feed(queue, 1)

    with another_connection() as other, other.cursor() as cursor:
        other.set_autocommit(False)
        cursor.execute(INSERT, [queue.namespace_id, queue.id, new_id()])
        second = a_task(queue=queue)

        assert feed(queue, after=seen.position) == []
        assert len(feed(queue)) == 1
        other.commit()

    late, after = eventually(
        lambda: found if len(found := feed(queue, after=seen.position)) == 2 else None
    )
    assert late.payload == '"late"'
    assert json.loads(after.payload)["task_id"] == second.id.hex
    assert json.loads(seen.payload)["task_id"] == first.id.hex
    assert seen.position < late.position < after.position


def test_a_writer_that_gives_up_holds_nothing_back():
    queue = a_queue()

    with another_connection() as other, other.cursor() as cursor:
        other.set_autocommit(False)
        cursor.execute(INSERT, [queue.namespace_id, queue.id, new_id()])
        a_task(queue=queue)
        assert feed(queue) == []
        other.rollback()

    [event] = whole_feed(queue, 1)
    assert json.loads(event.payload)["kind"] == "task.accepted"


def test_page_by_page_each_event_comes_once_in_order():
    queue = a_queue()
    for _ in range(5):
        a_task(queue=queue)
    everything = whole_feed(queue, 5)
    pages, position = [], START

    while page := feed(queue, after=position, limit=2):
        pages.append(page)
        position = page[-1].position

    assert [len(page) for page in pages] == [2, 2, 1]
    assert [event for page in pages for event in page] == everything
    assert [event.position for event in everything] == sorted(
        event.position for event in everything
    )


def test_only_events_of_ones_own_queues_are_delivered():
    queue, foreign = a_queue(), a_queue()
    task = a_task(queue=queue)
    a_task(queue=foreign)
    whole_feed(queue, 1)
    whole_feed(foreign, 1)

    [event] = feed(queue, queue_ids=(queue.id, foreign.id))

    assert json.loads(event.payload)["task_id"] == task.id.hex
    assert feed(queue, queue_ids=()) == []
    assert feed(queue, queue_ids=(foreign.id,)) == []


def test_a_consumer_follows_the_feed_by_its_cursor():
    queue = a_queue()
    caller = Caller(a_token(queue))
    empty = caller.get("events").data
    assert empty["items"] == []
    task = a_task(queue=queue, state="NEEDS_REVIEW")
    whole_feed(queue, 2)

    first = caller.get("events", {"cursor": empty["next_cursor"], "limit": 1}).data
    second = caller.get("events", {"cursor": first["next_cursor"]}).data
    nothing = caller.get("events", {"cursor": second["next_cursor"]}).data

    bodies = [page["items"][0]["body"] for page in (first, second)]
    assert [body["kind"] for body in bodies] == ["task.accepted", "task.needs_review"]
    assert {body["task_id"] for body in bodies} == {task.id.hex}
    assert [body["revision"] for body in bodies] == ["1", "3"]
    assert nothing["items"] == []
    assert nothing["next_cursor"] == second["next_cursor"]


def test_the_event_of_a_review_comes_later_and_the_first_stays_byte_for_byte():
    queue = a_queue()
    caller = Caller(a_token(queue))
    task = a_task(queue=queue, state="NEEDS_REVIEW")
    frozen = whole_feed(queue, 2)[1]

    reviewed(task)

    again = whole_feed(queue, 3)
    assert again[1] == frozen
    bodies = [item["body"] for item in caller.get("events").data["items"]]
    assert [body["revision"] for body in bodies] == ["1", "3", "4"]
    assert bodies[2]["kind"] == "task.failed"


@pytest.mark.parametrize("cursor", ["", "x", "x" * 1_025, "{foreign}"])
def test_a_cursor_of_another_feed_is_refused(cursor):
    queue, foreign = a_queue(), a_queue()
    if cursor == "{foreign}":
        cursor = Caller(a_token(foreign)).get("events").data["next_cursor"]

    answer = Caller(a_token(queue)).get("events", {"cursor": cursor})

    assert answer.refusal == (400, "INVALID_ARGUMENT", "cursor")
