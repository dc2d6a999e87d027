"""The reaper: what follows when a worker falls silent."""

import json
from datetime import timedelta

import pytest

from orbit.outbox.models import ResultEvent
from tasks_app.actions.reap_leases import reap_leases
from tasks_app.domain.access import ENGINE_ID
from tasks_app.models import Attempt, OperationAudit, Permit
from tests.builders import (
    a_lease,
    a_queue,
    again,
    every_row,
    lose,
    pass_time,
    room_of,
    row_of,
)
from tests.tasks_app.actions.test_review_task import Jobs, owned_by

pytestmark = pytest.mark.django_db


def test_a_live_lease_is_left_alone():
    a_lease()
    before = every_row()

    assert reap_leases(limit=100) == 0
    assert every_row() == before


def test_a_lost_lease_needs_review_and_keeps_its_quota():
    queue = a_queue(max_outstanding=10, max_concurrency=1)
    lease = a_lease(queue=queue, recovery_safety="RECONCILE_ONLY", max_attempts=5)
    lose(lease)

    assert reap_leases(limit=100) == 1

    stored = row_of(lease.task.id)
    assert (stored["state"], stored["revision"]) == ("NEEDS_REVIEW", 3)
    assert stored["effect_uncertain"]
    assert stored["error_code"] == "LEASE_LOST"
    attempt = Attempt.objects.get()
    assert (attempt.outcome, attempt.error_code) == ("UNKNOWN", "LEASE_LOST")
    assert Permit.objects.count() == 0
    assert room_of(queue.id) == 9
    audit = OperationAudit.objects.get(action="task.lose")
    assert (audit.actor_id, audit.actor_kind) == (ENGINE_ID, "ENGINE")
    assert json.loads(audit.after)["outcome"] == "UNKNOWN"
    assert ResultEvent.objects.get(revision=3).kind == "task.needs_review"
    assert reap_leases(limit=100) == 0


def test_a_lost_lease_runs_again_while_that_is_safe_then_needs_review():
    lease = a_lease(recovery_safety="REPLAY_SAFE", max_attempts=2)
    lose(lease)

    assert reap_leases(limit=100) == 1
    stored = row_of(lease.task.id)
    assert (stored["state"], stored["last_outcome"]) == ("WAITING", "UNKNOWN")
    assert not stored["effect_uncertain"]
    second = again(lease.task.id)
    assert second.attempt_number == 2
    lose(second)

    assert reap_leases(limit=100) == 1
    assert row_of(lease.task.id)["state"] == "NEEDS_REVIEW"


@pytest.mark.parametrize(
    ("timeouts", "code"),
    [
        ({"attempt_timeout_ms": 2_000, "task_timeout_ms": 60_000}, "ATTEMPT_TIMEOUT"),
        ({"attempt_timeout_ms": 2_000, "task_timeout_ms": 2_000}, "DEADLINE_EXCEEDED"),
    ],
)
def test_it_says_which_limit_was_passed(timeouts, code):
    lease = a_lease(lease_ms=30_000, **timeouts)
    pass_time(lease.task.id, by=timedelta(seconds=3))

    assert reap_leases(limit=100) == 1

    assert row_of(lease.task.id)["error_code"] == code


def test_a_pass_takes_no_more_than_its_limit_longest_lost_first():
    leases = [a_lease() for _ in range(3)]
    for lease in leases:
        pass_time(lease.task.id, by=timedelta(minutes=1))
    pass_time(leases[2].task.id, by=timedelta(minutes=1))

    assert reap_leases(limit=1) == 1

    assert row_of(leases[2].task.id)["state"] == "NEEDS_REVIEW"
    assert reap_leases(limit=100) == 2


def test_the_owner_hears_only_of_the_end():
    lease = a_lease(owner="SCHEDULE")
    lose(lease)

    with owned_by(Jobs()) as jobs:
        reap_leases(limit=10)

    assert jobs.settled == []
