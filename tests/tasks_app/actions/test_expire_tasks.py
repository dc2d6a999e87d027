"""Deadlines of what waits, and the turn of what was not due."""

import json
from datetime import timedelta

import pytest

from orbit.outbox.models import ResultEvent
from tasks_app.actions.expire_tasks import expire_tasks
from tasks_app.actions.promote_tasks import promote_tasks
from tasks_app.actions.reap_leases import reap_leases
from tasks_app.models import OperationAudit
from tests.builders import (
    a_lease,
    a_queue,
    a_task,
    claimed,
    every_row,
    lose,
    moment_in,
    pass_time,
    reported,
    room_of,
    row_of,
)
from tests.tasks_app.actions.test_review_task import Jobs, owned_by

pytestmark = pytest.mark.django_db

MINUTE = timedelta(minutes=1)


def test_what_is_in_time_is_left_alone():
    a_task(start_deadline_at=moment_in(seconds=50))
    running = a_lease()
    pass_time(running.task.id, by=timedelta(hours=1))
    before = every_row()

    assert expire_tasks(limit=100) == 0
    assert every_row() == before


def test_a_task_that_never_started_fails_safely_at_its_deadline():
    queue = a_queue(max_outstanding=10)
    task = a_task(queue=queue)
    pass_time(task.id, by=MINUTE)

    assert expire_tasks(limit=100) == 1

    stored = row_of(task.id)
    assert (stored["state"], stored["error_code"]) == ("FAILED", "DEADLINE_EXCEEDED")
    assert stored["completed_at"] is not None
    assert not stored["effect_uncertain"]
    assert room_of(queue.id) == 10
    audit = OperationAudit.objects.get(action="task.expire")
    assert audit.actor_kind == "ENGINE"
    event = ResultEvent.objects.get(revision=2)
    assert event.kind == "task.failed"
    assert json.loads(event.payload)["error_code"] == "DEADLINE_EXCEEDED"


def test_a_start_deadline_ends_a_task_that_has_not_started():
    task = a_task(start_deadline_at=moment_in(seconds=5))
    pass_time(task.id, by=timedelta(seconds=6))

    assert expire_tasks(limit=100) == 1

    stored = row_of(task.id)
    assert (stored["state"], stored["error_code"]) == (
        "FAILED",
        "START_DEADLINE_EXCEEDED",
    )


def test_a_start_deadline_does_not_end_a_task_that_has_started():
    lease = a_lease(max_attempts=2, start_deadline_at=moment_in(seconds=5))
    reported(lease, "fail", is_retryable=True)
    pass_time(lease.task.id, by=timedelta(seconds=6))

    assert expire_tasks(limit=100) == 0


def test_a_known_failure_before_stays_a_failure():
    lease = a_lease(max_attempts=2)
    reported(lease, "fail", is_retryable=True)
    pass_time(lease.task.id, by=MINUTE)

    assert expire_tasks(limit=100) == 1

    assert row_of(lease.task.id)["state"] == "FAILED"


def test_an_unknown_outcome_before_needs_review():
    queue = a_queue(max_outstanding=10)
    lease = a_lease(queue=queue, recovery_safety="REPLAY_SAFE", max_attempts=2)
    lose(lease)
    reap_leases(limit=10)
    pass_time(lease.task.id, by=MINUTE)

    assert expire_tasks(limit=100) == 1

    stored = row_of(lease.task.id)
    assert stored["state"] == "NEEDS_REVIEW"
    assert stored["effect_uncertain"]
    assert stored["error_code"] == "DEADLINE_EXCEEDED"
    assert room_of(queue.id) == 9


def test_a_pass_takes_no_more_than_its_limit():
    for _ in range(3):
        pass_time(a_task().id, by=MINUTE)

    assert [expire_tasks(limit=2) for _ in range(3)] == [2, 1, 0]


def test_the_owner_is_told_when_its_task_expires():
    task = a_task(owner="SCHEDULE")
    pass_time(task.id, by=MINUTE)

    with owned_by(Jobs()) as jobs:
        expire_tasks(limit=10)

    assert jobs.settled == [(task.id, task.owner_id, "FAILED")]


def test_a_task_for_later_can_be_claimed_once_its_time_has_come():
    queue = a_queue()
    task = a_task(queue=queue, available_at=moment_in(seconds=30))
    assert promote_tasks(limit=10) == 0
    pass_time(task.id, by=timedelta(seconds=31))
    before = row_of(task.id)

    assert promote_tasks(limit=10) == 1

    after = row_of(task.id)
    assert after == {**before, "is_due": True}
    assert OperationAudit.objects.count() == 1
    assert [lease.task.id for lease in claimed(queue)] == [task.id]


def test_a_pause_between_attempts_ends_with_promotion():
    queue = a_queue()
    lease = a_lease(
        queue=queue, max_attempts=2, initial_delay_ms=5_000, max_delay_ms=5_000
    )
    reported(lease, "fail", is_retryable=True)
    assert claimed(queue) == []
    pass_time(lease.task.id, by=timedelta(seconds=6))

    assert promote_tasks(limit=10) == 1
    assert len(claimed(queue)) == 1
