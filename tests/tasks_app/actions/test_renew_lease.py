"""The heartbeat: the lease goes on, within its bounds."""

from datetime import timedelta

import pytest

from orbit.ids import new_id
from tasks_app.actions.reap_leases import reap_leases
from tasks_app.actions.renew_lease import renew_lease
from tasks_app.domain.access import Reach
from tasks_app.domain.errors import AttemptNotFound, LeaseConflict
from tasks_app.models import Attempt, Queue
from tests.builders import (
    a_lease,
    cancelled,
    every_row,
    lose,
    pass_time,
    reach_of,
    reported,
)

pytestmark = pytest.mark.django_db


def renewed(lease, *, token=None, reach=None):
    queue = Queue.objects.get(id=lease.task.queue_id)
    return renew_lease(
        attempt_id=lease.attempt_id,
        lease_token=token or lease.lease_token,
        reach=reach or reach_of(queue),
    )


def test_a_heartbeat_extends_the_lease_by_what_was_claimed():
    lease = a_lease(lease_ms=5_000, attempt_timeout_ms=60_000)
    pass_time(lease.task.id, by=timedelta(seconds=3))

    renewal = renewed(lease)

    attempt = Attempt.objects.get()
    assert renewal.lease_expires_at == attempt.lease_expires_at
    assert attempt.lease_expires_at - attempt.heartbeat_at >= timedelta(seconds=4.9)
    assert not renewal.cancel_requested
    assert renewal.lease_expires_at > lease.lease_expires_at


def test_a_heartbeat_never_goes_past_the_attempts_timeout():
    lease = a_lease(lease_ms=5_000, attempt_timeout_ms=6_000)
    pass_time(lease.task.id, by=timedelta(seconds=4))

    renewal = renewed(lease)

    assert renewal.lease_expires_at == Attempt.objects.get().expires_by
    assert renewed(lease).lease_expires_at == renewal.lease_expires_at


def test_a_heartbeat_never_goes_past_the_deadline():
    lease = a_lease(lease_ms=5_000, attempt_timeout_ms=6_000, task_timeout_ms=6_000)
    pass_time(lease.task.id, by=timedelta(seconds=4))

    renewal = renewed(lease)

    assert renewal.lease_expires_at == lease.task.deadline_at - timedelta(seconds=4)


def test_a_heartbeat_never_shortens_a_lease():
    lease = a_lease(lease_ms=9_000, attempt_timeout_ms=10_000)

    assert renewed(lease).lease_expires_at >= lease.lease_expires_at


def test_a_heartbeat_tells_of_a_cancel_request():
    lease = a_lease()
    cancelled(lease.task.id)

    assert renewed(lease).cancel_requested


@pytest.mark.parametrize(
    ("ending", "state"),
    [("succeed", "SUCCEEDED"), ("fail", "FAILED"), ("unknown", "NEEDS_REVIEW")],
)
def test_after_the_end_a_heartbeat_tells_the_state(ending, state):
    lease = a_lease()
    reported(lease, ending)
    before = every_row()

    with pytest.raises(LeaseConflict) as refused:
        renewed(lease)

    assert refused.value.details == {"reason": "LEASE", "state": state, "revision": "3"}
    assert every_row() == before


def test_a_heartbeat_after_the_reaper_does_not_bring_the_lease_back():
    lease = a_lease()
    lose(lease)
    reap_leases(limit=10)

    with pytest.raises(LeaseConflict) as refused:
        renewed(lease)
    assert refused.value.details["state"] == "NEEDS_REVIEW"


def test_another_token_renews_nothing():
    lease = a_lease()
    before = every_row()

    with pytest.raises(LeaseConflict):
        renewed(lease, token="not the token")
    assert every_row() == before


def test_an_attempt_out_of_reach_is_like_none():
    lease = a_lease()
    task = lease.task

    for reach in (
        Reach(namespace_id=new_id(), queue_ids=(task.queue_id,)),
        Reach(namespace_id=task.namespace_id, queue_ids=(new_id(),)),
    ):
        with pytest.raises(AttemptNotFound):
            renewed(lease, reach=reach)
