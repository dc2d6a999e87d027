"""The inbox: oldest first, in words, in pages, and never slower for being long."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tasks_app.actions.reap_leases import reap_leases
from tasks_app.domain.causes import Cause
from tasks_app.domain.lifecycle import Failure
from tasks_app.queries.inbox import InboxFilter, count_inbox, inbox
from tests.builders import a_lease, a_queue, cancelled, lose, reported, reviewed
from tests.tasks_app.pages.builders import VIEW, Browser, unsure

pytestmark = pytest.mark.django_db(transaction=True)

MANY = r"""
INSERT INTO tasks_task (
    id, namespace_id, application_id, queue_id, owner_kind, is_gated, state, revision,
    handler, handler_version, payload_version, payload, priority, recovery_safety,
    max_attempts, initial_delay_ms, max_delay_ms, attempt_timeout_ms, available_at,
    due_at, is_due, deadline_at, attempt_count, lease_seq, effect_uncertain,
    error_code, completed_at, created_at, updated_at, submitted_by, audit_length,
    audit_head)
SELECT gen_random_uuid(), %(namespace)s, %(application)s, %(queue)s, 'STANDALONE',
    false, s.state, 3, 'ledger.transfer', '1', '1', '{}', 0, 'RECONCILE_ONLY', 1, 0,
    0, 1000, now(), now(), true, now(), 1, 1, s.state = 'NEEDS_REVIEW',
    CASE WHEN s.state = 'NEEDS_REVIEW' THEN 'LEASE_LOST' END,
    CASE WHEN s.state = 'SUCCEEDED' THEN now() END, now(),
    now() - n * interval '1 second', gen_random_uuid(), 3, '\x00'::bytea
FROM generate_series(1, %(count)s) n CROSS JOIN LATERAL (
    SELECT CASE WHEN n %% 20 = 0 THEN 'NEEDS_REVIEW' ELSE 'SUCCEEDED' END AS state) s
"""


def fill(queue, *, count):
    """So many tasks in the queue, one in twenty of them in need of review."""
    with connection.cursor() as cursor:
        # Their pasts are left out, which triggers would refuse.
        cursor.execute("SET session_replication_role = replica")
        cursor.execute(
            MANY,
            {
                "namespace": queue.namespace_id,
                "application": queue.application_id,
                "queue": queue.id,
                "count": count,
            },
        )
        cursor.execute("SET session_replication_role = origin; ANALYZE tasks_task")


def shown(response):
    """The tasks of a page in order."""
    return [row.task.id for row in response.context["rows"]]


def test_the_oldest_comes_first_whatever_its_queue():
    first, second, third = (unsure()[0] for _ in range(3))
    reviewed(unsure()[0])
    a_lease()

    response = Browser(VIEW).get()

    assert shown(response) == [first.id, second.id, third.id]
    assert "3 wait" in response.content.decode()


def test_an_empty_inbox_says_so():
    assert "Every outcome is known." in Browser(VIEW).text()


def test_it_goes_on_page_by_page_and_each_task_is_there_once():
    queue = a_queue()
    fill(queue, count=1_300)
    browser = Browser(VIEW)

    first = browser.get()
    second = browser.get(f"?after={first.context['next']}")

    ids = shown(first) + shown(second)
    assert len(ids) == len(set(ids)) == 65
    assert second.context["next"] is None
    since = [row.task.since for it in (first, second) for row in it.context["rows"]]
    assert since == sorted(since)


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("?after=forged", 400),
        ("?cause=no", 404),
        ("?queue=1", 404),
        ("?handler=%00", 200),
    ],
)
def test_its_address_is_read_strictly(query, status):
    assert Browser(VIEW).get(query).status_code == status


def test_it_is_filtered_by_queue_handler_and_why():
    queue = a_queue()
    one, _ = unsure(queue=queue, handler="mail.send")
    other, _ = unsure(handler="ledger.transfer")
    lease = a_lease(handler="mail.send")
    lose(lease)
    reap_leases(limit=1)
    browser = Browser(VIEW)

    found = {
        query: shown(browser.get(query))
        for query in (
            f"?queue={queue.id.hex}",
            "?handler=mail.send",
            "?cause=LEASE_LOST",
            "?cause=WORKER_UNSURE&handler=mail.send",
        )
    }

    assert list(found.values()) == [
        [one.id],
        [one.id, lease.task.id],
        [lease.task.id],
        [one.id],
    ]
    assert other.id in shown(browser.get())


def test_why_a_task_is_here_is_told_by_its_code():
    lose(a_lease())
    reap_leases(limit=1)
    unsure(failure=Failure(code="BANK_SILENT", message="No answer."))
    lease = a_lease(recovery_safety="REPLAY_SAFE", max_attempts=3)
    lose(lease)
    reap_leases(limit=1)
    cancelled(lease.task.id)

    told = [
        (it.cause, it.error_code) for it in inbox(InboxFilter(), after=None, limit=9)
    ]

    assert told == [
        (Cause.LEASE_LOST, "LEASE_LOST"),
        (Cause.WORKER_UNSURE, "BANK_SILENT"),
        (Cause.CANCELLED, None),
    ]
    page = Browser(VIEW).text()
    assert "BANK_SILENT" in page
    assert "Worker said unknown" in page


def test_late_reports_and_the_room_that_is_left_are_told():
    queue = a_queue(max_outstanding=2)
    _, lease = unsure(queue=queue)
    reported(lease, "succeed")
    reported(lease, "succeed", result="2")
    unsure(queue=queue)

    first, second = inbox(InboxFilter(), after=None, limit=9)

    assert (first.late_reports, second.late_reports) == (2, 0)
    assert (first.room, second.room) == (0, 0)
    assert "The queue is full" in Browser(VIEW).text()


def statements(browser):
    """What a page costs."""
    with CaptureQueriesContext(connection) as captured:
        browser.get()
    return len(captured)


def test_a_long_page_costs_as_many_statements_as_a_short_one():
    browser = Browser(VIEW)
    unsure()
    browser.get()
    short = statements(browser)
    queue = a_queue()
    fill(queue, count=1_300)

    # Session, user, two of permissions; page, rooms, count, views, queues.
    assert statements(browser) == short == 9


def plan_of(query):
    """The plans of what `query` sends to the database."""
    with CaptureQueriesContext(connection) as captured:
        query()
    with connection.cursor() as cursor:
        plans = []
        for it in captured:
            cursor.execute(f"EXPLAIN {it['sql']}")
            plans.append("\n".join(row[0] for row in cursor.fetchall()))
    return plans


def test_among_a_hundred_thousand_tasks_it_reads_along_its_index():
    queue = a_queue()
    fill(queue, count=100_000)
    response = Browser(VIEW).get()

    page, rooms = plan_of(lambda: inbox(InboxFilter(), after=None, limit=50))
    [count] = plan_of(lambda: count_inbox(InboxFilter()))

    assert "More than 1000 wait" in response.content.decode()
    assert len(response.context["rows"]) == 50
    for plan in (page, count):
        assert "tasks_task_needs_review on tasks_task" in plan
        assert "Seq Scan on tasks_task" not in plan
    assert "Seq Scan" not in rooms
    assert count_inbox(InboxFilter()).oldest < response.context[
        "counted"
    ].now - timedelta(hours=27)


def test_neither_payload_nor_result_is_read():
    unsure()
    with CaptureQueriesContext(connection) as captured:
        inbox(InboxFilter(), after=None, limit=50)

    assert [
        it for it in captured if "payload" in it["sql"] or "result" in it["sql"]
    ] == []
