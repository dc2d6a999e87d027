"""The claim: who gets which task, and what stands in the way."""

import hashlib
import json
from datetime import timedelta

import pytest
from django.db import connection

from orbit.ids import new_id
from tasks_app.actions.claim_tasks import claim_tasks
from tasks_app.actions.configure_queue import configure_queue
from tasks_app.domain.access import Reach
from tasks_app.domain.commands import ClaimTasks, HandlerFilter, WorkerIn
from tasks_app.domain.errors import QueueNotFound
from tasks_app.domain.limits import QueueLimits
from tasks_app.models import Application, Attempt, OperationAudit, Permit, Task
from tests.builders import (
    WORKER,
    a_lease,
    a_queue,
    a_task,
    again,
    claimed,
    every_row,
    moment_in,
    pass_time,
    reported,
    row_of,
)

pytestmark = pytest.mark.django_db


def ids(assignments):
    return [assignment.task.id for assignment in assignments]


def let_flow(queue, *, seconds):
    """Let the token bucket of a queue fill for a while."""
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE tasks_queue_throttle SET refilled_at ="
            " clock_timestamp() - make_interval(secs => %s) WHERE queue_id = %s",
            [seconds, queue.id],
        )


def test_a_claimed_task_runs_under_a_lease_of_which_only_the_hash_is_stored():
    queue = a_queue()
    task = a_task(queue=queue, payload='{"n":1.10}')

    [lease] = claimed(queue, lease_ms=5_000)

    assert (lease.task.id, lease.attempt_number) == (task.id, 1)
    assert lease.task.payload == '{"n":1.10}'
    stored = row_of(task.id)
    assert {
        name: stored[name]
        for name in ("state", "revision", "attempt_count", "lease_seq")
    } == {"state": "RUNNING", "revision": 2, "attempt_count": 1, "lease_seq": 1}
    assert stored["lease_attempt_id"] == lease.attempt_id
    attempt = Attempt.objects.get()
    assert attempt.id == lease.attempt_id
    assert attempt.outcome == "ACTIVE"
    assert (
        bytes(attempt.lease_token_hash)
        == hashlib.sha256(lease.lease_token.encode()).digest()
    )
    assert attempt.lease_expires_at == lease.lease_expires_at
    assert lease.lease_expires_at - attempt.started_at == timedelta(seconds=5)
    assert lease.lease_token not in str(every_row())
    audit = OperationAudit.objects.get(action="task.start")
    assert audit.actor_id == WORKER.id
    assert json.loads(audit.before) == {"state": "WAITING", "revision": "1"}
    assert json.loads(audit.after)["attempt_id"] == lease.attempt_id.hex
    assert Permit.objects.count() == 0


def test_priority_comes_first_then_availability_then_id():
    queue = a_queue()
    low = a_task(queue=queue, priority=-1)
    second = a_task(queue=queue)
    first = a_task(queue=queue)
    pass_time(first.id, by=timedelta(seconds=1))
    high = a_task(queue=queue, priority=100)
    third, fourth = a_task(queue=queue), a_task(queue=queue)
    Task.objects.filter(id__in=[third.id, fourth.id]).update(due_at=fourth.due_at)

    found = [lease for _ in range(6) for lease in claimed(queue, max_tasks=1)]

    assert ids(found) == [task.id for task in (high, first, second, third, fourth, low)]
    assert claimed(queue) == []


def test_no_more_tasks_are_leased_than_asked_for():
    queue = a_queue()
    for _ in range(3):
        a_task(queue=queue)

    assert len(claimed(queue, max_tasks=2)) == 2
    assert Task.objects.filter(state="WAITING").count() == 1


def test_a_worker_gets_only_what_it_can_handle():
    queue = a_queue()
    mine = a_task(queue=queue, handler="mine", handler_version="v2")
    a_task(queue=queue, handler="mine", handler_version="v1", priority=9)
    a_task(queue=queue, handler="theirs", handler_version="v2", priority=9)

    found = claimed(
        queue,
        handlers=[
            HandlerFilter(handler="mine", handler_version="v2"),
            HandlerFilter(handler="none", handler_version="v1"),
        ],
    )

    assert ids(found) == [mine.id]


def test_a_paused_queue_accepts_but_starts_nothing():
    queue = a_queue()
    configure_queue(queue_id=queue.id, limits=QueueLimits(is_paused=True))
    task = a_task(queue=queue)

    assert claimed(queue) == []

    configure_queue(queue_id=queue.id, limits=QueueLimits())
    assert ids(claimed(queue)) == [task.id]


def test_a_queue_can_be_born_paused():
    queue = a_queue(is_paused=True)
    a_task(queue=queue)

    assert queue.is_paused
    assert claimed(queue) == []


def test_a_disabled_application_starts_nothing():
    queue = a_queue()
    a_task(queue=queue)
    Application.objects.update(is_enabled=False)

    assert claimed(queue) == []


@pytest.mark.parametrize("ending", ["succeed", "fail", "unknown"])
def test_no_more_attempts_run_than_the_queue_has_slots(ending):
    queue = a_queue(max_concurrency=2)
    for _ in range(4):
        a_task(queue=queue)

    leases = claimed(queue)

    assert len(leases) == 2
    assert claimed(queue) == []
    assert Permit.objects.filter(kind="QUEUE").count() == 2
    reported(leases[0], ending)
    assert Permit.objects.count() == 1
    assert len(claimed(queue)) == 1


def test_no_more_attempts_share_a_key_than_allowed_and_others_pass_by():
    queue = a_queue(key_concurrency=1)
    first = a_task(queue=queue, concurrency_key="a", priority=3)
    second = a_task(queue=queue, concurrency_key="a", priority=2)
    other = a_task(queue=queue, concurrency_key="b", priority=1)
    free = a_task(queue=queue)

    leases = claimed(queue)

    assert ids(leases) == [first.id, other.id, free.id]
    assert claimed(queue) == []
    assert sorted(Permit.objects.values_list("concurrency_key", flat=True)) == [
        "a",
        "b",
    ]
    reported(leases[0], "succeed")
    assert ids(claimed(queue)) == [second.id]


def test_many_tasks_of_a_busy_key_do_not_hide_another_key():
    queue = a_queue(key_concurrency=1)
    for _ in range(6):
        a_task(queue=queue, concurrency_key="a", priority=1)
    other = a_task(queue=queue, concurrency_key="b")

    assert len(claimed(queue, max_tasks=1)) == 1
    assert ids(claimed(queue, max_tasks=1)) == [other.id]


def test_keys_without_a_limit_hold_nothing_up():
    queue = a_queue()
    for _ in range(3):
        a_task(queue=queue, concurrency_key="a")

    assert len(claimed(queue)) == 3
    assert Permit.objects.count() == 0


def test_no_more_tasks_start_in_a_second_than_the_rate_allows():
    queue = a_queue(rate_per_second=2.0)
    for _ in range(5):
        a_task(queue=queue)
    let_flow(queue, seconds=60)

    assert len(claimed(queue)) == 2
    assert len(claimed(queue)) == 0
    let_flow(queue, seconds=0.6)
    assert len(claimed(queue)) == 1


def test_a_task_past_its_deadline_or_start_deadline_is_not_started():
    queue = a_queue()
    over = a_task(queue=queue)
    late = a_task(queue=queue, start_deadline_at=moment_in(seconds=5))
    for task in (over, late):
        pass_time(task.id, by=timedelta(seconds=6))
    pass_time(over.id, by=timedelta(minutes=1))

    assert claimed(queue) == []
    assert row_of(over.id)["state"] == row_of(late.id)["state"] == "WAITING"


def test_a_start_deadline_does_not_stop_a_second_attempt():
    lease = a_lease(max_attempts=2, start_deadline_at=moment_in(seconds=5))
    reported(lease, "fail", is_retryable=True)
    pass_time(lease.task.id, by=timedelta(seconds=6))

    assert again(lease.task.id).attempt_number == 2


def test_a_lease_never_lasts_longer_than_attempt_timeout_and_deadline():
    short = a_lease(attempt_timeout_ms=2_000, lease_ms=30_000)
    bounded = a_lease(attempt_timeout_ms=3_000, task_timeout_ms=3_000, lease_ms=30_000)

    started = Attempt.objects.get(id=short.attempt_id).started_at
    assert short.lease_expires_at - started == timedelta(seconds=2)
    assert bounded.lease_expires_at == bounded.task.deadline_at


def test_without_a_wish_the_lease_is_the_queues():
    queue = a_queue(lease_ms=7_000)
    a_task(queue=queue)

    [lease] = claimed(queue)

    assert lease.lease_expires_at - Attempt.objects.get().started_at == timedelta(
        seconds=7
    )


@pytest.mark.parametrize("foreign", ["namespace", "range", "no such queue"])
def test_a_queue_out_of_reach_is_like_none(foreign):
    task = a_task()
    reaches = {
        "namespace": Reach(namespace_id=new_id(), queue_ids=(task.queue_id,)),
        "range": Reach(namespace_id=task.namespace_id, queue_ids=(new_id(),)),
        "no such queue": Reach(namespace_id=task.namespace_id, queue_ids=None),
    }
    queue_id = new_id() if foreign == "no such queue" else task.queue_id
    command = ClaimTasks(worker=WorkerIn(name="w", instance_id="5" * 32))

    with pytest.raises(QueueNotFound):
        claim_tasks(command, queue_id=queue_id, actor=WORKER, reach=reaches[foreign])

    assert row_of(task.id)["state"] == "WAITING"


def test_a_limit_that_appears_counts_what_runs_already():
    queue = a_queue()
    lease = a_lease(queue=queue, concurrency_key="a")
    waiting = a_task(queue=queue, concurrency_key="a")

    configure_queue(
        queue_id=queue.id, limits=QueueLimits(max_concurrency=1, key_concurrency=1)
    )

    assert Permit.objects.count() == 2
    assert claimed(queue) == []
    reported(lease, "succeed")
    assert ids(claimed(queue)) == [waiting.id]


def test_a_jobs_task_is_not_for_any_worker_of_the_queue():
    queue = a_queue()
    owned = a_task(queue=queue, owner="SCHEDULE", priority=9)
    plain = a_task(queue=queue)

    assert ids(claimed(queue)) == [plain.id]
    assert ids(claimed(queue, task_id=owned.id)) == [owned.id]
    assert claimed(queue, task_id=owned.id) == []
