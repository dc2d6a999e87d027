"""The overview: how recovery stands, in numbers that are those of the rows."""

import pytest
from django.db import connection

from tests.builders import (
    a_lease,
    a_namespace,
    a_queue,
    a_submission,
    a_task,
    reported,
    reviewed,
    submitted,
)
from tests.tasks_app.pages.builders import VIEW, Browser, unsure

pytestmark = pytest.mark.django_db(transaction=True)


def test_it_counts_what_waits_what_was_settled_and_what_disagrees():
    queue = a_queue(max_outstanding=10)
    task, lease = unsure(queue=queue)
    for _ in range(2):
        a_task(state="NEEDS_REVIEW", queue=queue)
    reviewed(task)
    reported(lease, "succeed")

    told = Browser(VIEW).text(f"overview?namespace={queue.namespace_id.hex}")

    assert ">2</a></dd><dt>The oldest waits" in told
    assert "<dt>Came, last day</dt><dd>3</dd>" in told
    assert "<dt>Settled, last day</dt><dd>1</dd>" in told
    assert "2 of 10, the oldest for" in told
    assert "Settled: Failed. The worker says: Succeeded." in told
    assert task.id.hex in told


def test_without_anything_it_says_so():
    assert "There is no namespace yet." in Browser(VIEW).text("overview")
    a_namespace()
    assert "None." in Browser(VIEW).text("overview")


@pytest.mark.parametrize("asked", ["x", "7" * 32])
def test_a_namespace_that_is_not_there_is_not_found(asked):
    a_namespace()
    assert Browser(VIEW).get(f"overview?namespace={asked}").status_code == 404


def moved(sql, *parameters):
    with connection.cursor() as cursor:
        cursor.execute("SET session_replication_role = replica")
        cursor.execute(sql, parameters)
        cursor.execute("SET session_replication_role = origin")


def test_the_hours_are_drawn_as_they_were():
    queue = a_queue()
    old, new = (a_task(state="NEEDS_REVIEW", queue=queue) for _ in range(2))
    reviewed(new)
    moved(
        "UPDATE outbox_result_event SET created_at = created_at - interval '150 min'"
        " WHERE task_id = %s",
        old.id,
    )

    bars = Browser(VIEW).get("overview").context["bars"]

    assert [it.hours_ago for it in bars] == list(range(23, -1, -1))
    assert [(it.hours_ago, *it.hour) for it in bars if any(it.hour)] == [
        (2, 1, 0),
        (0, 1, 1),
    ]
    assert {it.came for it in bars if it.hour.came} == {60}


def test_a_worker_with_a_lease_is_at_work_late_or_over():
    queue = a_queue()
    lease = a_lease(queue=queue, attempt_timeout_ms=60_000)
    browser = Browser(VIEW)
    assert "At work" in browser.text("overview")

    moved(
        "UPDATE tasks_attempt SET started_at = started_at - interval '16 s',"
        " lease_expires_at = lease_expires_at - interval '16 s' WHERE id = %s",
        lease.attempt_id,
    )
    assert "Its heartbeat is late" in browser.text("overview")

    moved(
        "UPDATE tasks_attempt SET lease_expires_at = started_at + interval '1 ms'"
        " WHERE id = %s",
        lease.attempt_id,
    )
    told = browser.text("overview")
    assert "A lease of it is over" in told
    assert "Maintenance does not keep up." in told


def test_work_that_nobody_takes_is_told():
    queue = a_queue()
    browser = Browser(VIEW)
    [answer] = submitted(a_submission(queue), queue=queue)
    assert "1 due, the oldest for" in browser.text("overview")
    assert "No worker takes them" not in browser.text("overview")

    moved(
        "UPDATE tasks_task SET due_at = due_at - interval '2 min' WHERE id = %s",
        answer.task.id,
    )
    assert "No worker takes them" in browser.text("overview")

    queue.is_paused = True
    queue.save()
    told = browser.text("overview")
    assert "The queue is paused." in told
    assert "No worker takes them" not in told


def test_a_queue_that_is_busy_is_served():
    queue = a_queue()
    a_lease(queue=queue)
    [answer] = submitted(a_submission(queue), queue=queue)
    moved(
        "UPDATE tasks_task SET due_at = due_at - interval '2 min' WHERE id = %s",
        answer.task.id,
    )
    told = Browser(VIEW).text("overview")
    assert "1 due, the oldest for" in told
    assert "No worker takes them" not in told


def test_the_number_of_statements_does_not_grow(django_assert_max_num_queries):
    queue = a_queue()
    for _ in range(5):
        a_task(state="NEEDS_REVIEW", queue=queue)
    browser = Browser(VIEW)
    browser.get("overview")
    with django_assert_max_num_queries(17):
        browser.get("overview")
