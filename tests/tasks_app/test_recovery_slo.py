"""How recovery stands: counted exactly, within reach, at a bounded cost."""

import json
from datetime import timedelta

import pytest
from django.db import connection

from tasks_app import queries
from tasks_app.domain.access import Reach
from tasks_app.models import Task
from tasks_app.models.statements.slo import QUEUES, TIME_TO_SETTLE
from tasks_app.public import OwnerKind, register_owner_policy
from tests.builders import (
    a_lease,
    a_queue,
    a_task,
    a_token,
    approved,
    lose,
    proposed,
    reach_of,
    reported,
    reviewed,
)
from tests.tasks_app.api.calls import Caller

pytestmark = pytest.mark.django_db

DAY = timedelta(days=1)


def let_pass(task, *, hours, settled_after=0):
    """Let the task have come to need review, and have been settled, hours ago."""
    with connection.cursor() as cursor:
        cursor.execute("SET session_replication_role = replica")
        cursor.execute(
            "UPDATE outbox_result_event SET created_at = created_at - %s"
            " WHERE task_id = %s AND kind = 'task.needs_review'",
            [timedelta(hours=hours), task.id],
        )
        cursor.execute(
            "UPDATE tasks_task SET updated_at = updated_at - %s,"
            " completed_at = (SELECT e.created_at + %s FROM outbox_result_event e"
            "  WHERE e.task_id = tasks_task.id AND e.kind = 'task.needs_review')"
            " WHERE id = %s",
            [
                timedelta(hours=hours),
                timedelta(hours=settled_after) if settled_after else None,
                task.id,
            ],
        )
        cursor.execute("SET session_replication_role = origin")


def settled(queue, *, hours, after):
    """A task that came hours ago, and was settled so many hours after that."""
    task = a_task(queue=queue, state="NEEDS_REVIEW")
    reviewed(task)
    let_pass(task, hours=hours, settled_after=after)
    return task


def test_nothing_to_do_says_so():
    queue = a_queue()
    a_task(queue=queue, state="SUCCEEDED")

    data = Caller(a_token(queue)).get("recovery/slo").data

    assert data["needs_review"] == {"tasks": 0}
    assert data["queues"] == []
    assert data["serial_jobs_blocked"] == 0
    assert data["inflow"] == data["settled"] == {"last_hour": 0, "last_day": 0}
    assert data["time_to_settle"] == {"tasks": 0}
    assert data["contradictions"] == {"last_hour": 0, "last_day": 0}
    assert data["window_hours"] == 24


def test_what_waits_is_counted_with_its_age_and_the_quota_that_it_holds():
    queue = a_queue(max_outstanding=50)
    other = a_queue(application=queue.application)
    old, _ = (a_task(queue=queue, state="NEEDS_REVIEW") for _ in range(2))
    a_task(queue=other, state="NEEDS_REVIEW")
    let_pass(old, hours=5)

    data = Caller(a_token(queue, other)).get("recovery/slo").data

    oldest = data["needs_review"]["oldest"]
    assert data["needs_review"]["tasks"] == 3
    assert (oldest["task_id"], oldest["queue_id"]) == (old.id.hex, queue.id.hex)
    assert 5 * 3_600_000 <= oldest["age_ms"] < 5 * 3_600_000 + 60_000
    held = [(it["queue_id"], it["quota_held"]) for it in data["queues"]]
    assert held == [(queue.id.hex, 2), (other.id.hex, 1)]
    assert data["queues"][0]["max_outstanding"] == 50
    assert data["queues"][0]["oldest_since"] == oldest["since"]


def test_what_came_and_what_was_settled_is_counted_by_hour_and_day():
    queue = a_queue()
    settled(queue, hours=30, after=2)
    settled(queue, hours=20, after=4)
    settled(queue, hours=2, after=1.5)
    a_task(queue=queue, state="NEEDS_REVIEW")
    # A worker that recovered by itself is no decision of a person.
    lease = a_lease(queue=queue, recovery_safety="REPLAY_SAFE", max_attempts=2)
    lose(lease)
    reported(a_lease(queue=queue), "fail")

    standing = queries.recovery_slo(reach_of(queue), window=DAY)
    longer = queries.recovery_slo(reach_of(queue), window=2 * DAY)

    [row] = standing.queues
    assert (row.inflow_hour, row.inflow_day) == (1, 3)
    assert (row.settled_hour, row.settled_day) == (1, 2)
    hour = 3_600_000
    assert standing.time_to_settle == (2, 2.75 * hour, pytest.approx(3.875 * hour))
    assert longer.time_to_settle == (3, 2 * hour, pytest.approx(3.8 * hour))


def test_contradictions_are_counted_by_hour_and_day_within_reach():
    queue = a_queue()
    other = a_queue(application=queue.application)
    for hours, of in ((0, queue), (2, queue), (30, queue), (0, other)):
        lease = a_lease(queue=of)
        reported(lease, "unknown")
        reviewed(Task.objects.get(id=lease.task.id))
        reported(lease, "succeed")
        with connection.cursor() as cursor:
            cursor.execute("SET session_replication_role = replica")
            cursor.execute(
                "UPDATE tasks_contradiction SET created_at = created_at - %s"
                " WHERE task_id = %s",
                [timedelta(hours=hours), lease.task.id],
            )
            cursor.execute("SET session_replication_role = origin")

    data = Caller(a_token(queue)).get("recovery/slo").data
    both = Caller(a_token(queue, other)).get("recovery/slo").data

    assert data["contradictions"] == {"last_hour": 1, "last_day": 2}
    assert both["contradictions"] == {"last_hour": 2, "last_day": 3}


def test_an_approved_proposal_counts_as_settled():
    queue = a_queue(second_approver=True)
    approved(proposed(a_task(queue=queue, state="NEEDS_REVIEW")).proposal)

    [row] = queries.recovery_slo(reach_of(queue), window=DAY).queues

    assert (row.held, row.settled_hour) == (0, 1)


def test_another_queue_or_namespace_is_not_counted():
    queue, foreign = a_queue(), a_queue()
    other = a_queue(application=queue.application)
    for it in (other, foreign):
        settled(it, hours=2, after=1)
        a_task(queue=it, state="NEEDS_REVIEW")

    [row] = queries.recovery_slo(reach_of(queue), window=DAY).queues
    everything = Reach(namespace_id=queue.namespace_id, queue_ids=None)
    all_of_it = queries.recovery_slo(everything, window=DAY)

    assert row[3:10] == (0, None, None, 0, 0, 0, 0)
    assert all_of_it.needs_review == 1
    assert all_of_it.time_to_settle.settled == 1
    mixed = Reach(namespace_id=queue.namespace_id, queue_ids=(foreign.id,))
    assert queries.recovery_slo(mixed, window=DAY).queues == []


@pytest.mark.parametrize("hours", ["0", "745", "x", "-1", "1.5"])
def test_an_impossible_window_is_refused(hours):
    caller = Caller(a_token(a_queue()))

    answer = caller.get("recovery/slo", {"window_hours": hours})

    assert answer.refusal == (400, "INVALID_ARGUMENT", "window_hours")


def test_owners_say_what_stands_still(monkeypatch):
    class Flows:
        """Workflows, two tasks of one of them."""

        def held_up_by(self, owner_ids):
            self.asked = set(owner_ids)
            return {"one flow"}

    flows = Flows()
    monkeypatch.setattr("tasks_app.domain.ownership._policies", {})
    register_owner_policy(OwnerKind.WORKFLOW, flows)
    queue = a_queue()
    tasks = [
        a_task(queue=queue, state="NEEDS_REVIEW", owner="WORKFLOW") for _ in range(2)
    ]
    a_task(queue=queue, state="NEEDS_REVIEW")

    standing = queries.recovery_slo(reach_of(queue), window=DAY)

    assert flows.asked == {task.owner_id for task in tasks}
    assert standing.serial_jobs_blocked == 1


def plan_of(sql, **parameters):
    """Every index and table that the plan reads."""
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (FORMAT JSON) {sql}", parameters)
        return json.dumps(cursor.fetchone()[0])


def test_it_reads_along_partial_indexes_alone():
    queue = a_queue()
    with connection.cursor() as cursor:
        # Of a few rows no index is better than another.
        cursor.execute(
            "INSERT INTO outbox_result_event (namespace_id, queue_id, task_id,"
            " revision, kind, payload, transaction_id, created_at) SELECT %s, %s,"
            " gen_random_uuid(), 2, 'task.succeeded', '{}', 1, now()"
            " FROM generate_series(1, 3000)",
            [queue.namespace_id, queue.id],
        )
        cursor.execute("ANALYZE outbox_result_event")
    place = {
        "namespace": queue.namespace_id,
        "queues": [queue.id],
        "now": queue.created_at,
    }

    queues = plan_of(QUEUES, **place)
    times = plan_of(TIME_TO_SETTLE, **place, window=DAY, sample=100)

    for index in ("needs_review", "settled"):
        assert f"tasks_task_{index}" in queues
    assert "outbox_event_needs_review" in queues
    assert "tasks_task_settled" in times
    # By which of its indexes depends on what was counted of the table last.
    assert "outbox_event_" in times
    assert "Seq Scan" not in queues + times
