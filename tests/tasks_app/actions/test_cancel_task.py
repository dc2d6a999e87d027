"""Cancel: at once while a task waits, by asking its worker while it runs."""

import json

import pytest

from orbit.outbox.models import ResultEvent
from tasks_app.actions.cancel_task import cancel_task
from tasks_app.actions.reap_leases import reap_leases
from tasks_app.api.shapes import task_shape
from tasks_app.domain.commands import CancelTask
from tasks_app.domain.errors import IdempotencyConflict, InvalidField, StateConflict
from tasks_app.models import Attempt, OperationAudit, Task
from tests.builders import (
    OPERATOR,
    a_lease,
    a_queue,
    a_task,
    again,
    an_identity,
    cancelled,
    claimed,
    every_row,
    lose,
    reach_of,
    reported,
    room_of,
    row_of,
)
from tests.tasks_app.actions.test_review_task import Jobs, owned_by

pytestmark = pytest.mark.django_db


def called(task, *, identity, **members):
    return cancel_task(
        CancelTask(**members),
        task_id=task.id,
        identity=identity,
        actor=OPERATOR,
        reach=reach_of(task.queue),
    )


def test_a_waiting_task_is_cancelled_at_once():
    queue = a_queue(max_outstanding=10)
    task = a_task(queue=queue)

    answer = cancelled(task.id, reason="ordered twice")

    stored = row_of(task.id)
    assert (answer.task.state, stored["state"]) == ("CANCELLED", "CANCELLED")
    assert stored["completed_at"] is not None
    assert room_of(queue.id) == 10
    audit = OperationAudit.objects.get(id=answer.audit_id)
    assert (audit.action, audit.reason) == ("task.cancel", "ordered twice")
    assert json.loads(audit.after) == {"state": "CANCELLED", "revision": "2"}
    assert ResultEvent.objects.get(revision=2).kind == "task.cancelled"
    assert claimed(queue) == []


def test_a_running_task_is_only_asked_to_stop():
    queue = a_queue(max_outstanding=10)
    lease = a_lease(queue=queue)

    answer = cancelled(lease.task.id)

    stored = row_of(lease.task.id)
    assert (stored["state"], stored["revision"]) == ("RUNNING", 2)
    assert stored["cancel_requested_at"] == answer.task.cancel_requested_at
    assert Attempt.objects.get().outcome == "ACTIVE"
    assert room_of(queue.id) == 9
    audit = OperationAudit.objects.get(id=answer.audit_id)
    assert json.loads(audit.after)["cancel_requested"] is True
    assert ResultEvent.objects.count() == 1


@pytest.mark.parametrize("kind", ["succeed", "fail"])
def test_a_worker_may_finish_all_the_same(kind):
    lease = a_lease()
    cancelled(lease.task.id)

    answer = reported(lease, kind)

    assert answer.state == {"succeed": "SUCCEEDED", "fail": "FAILED"}[kind]


def test_a_retryable_failure_after_a_request_is_the_cancel():
    lease = a_lease(max_attempts=5)
    cancelled(lease.task.id)

    assert reported(lease, "fail", is_retryable=True).state == "CANCELLED"


def test_a_lease_lost_after_a_request_follows_the_safety():
    lease = a_lease()
    cancelled(lease.task.id)
    lose(lease)

    reap_leases(limit=10)

    assert row_of(lease.task.id)["state"] == "NEEDS_REVIEW"


def test_a_waiting_task_of_unknown_past_needs_review_instead():
    queue = a_queue(max_outstanding=10)
    lease = a_lease(queue=queue, recovery_safety="REPLAY_SAFE", max_attempts=2)
    lose(lease)
    reap_leases(limit=10)
    assert row_of(lease.task.id)["state"] == "WAITING"

    answer = cancelled(lease.task.id)

    assert answer.task.state == "NEEDS_REVIEW"
    assert row_of(lease.task.id)["effect_uncertain"]
    assert room_of(queue.id) == 9


@pytest.mark.parametrize("state", ["NEEDS_REVIEW", "SUCCEEDED", "FAILED", "CANCELLED"])
def test_what_is_done_or_needs_review_cannot_be_cancelled(state):
    task = a_task(state=state)
    before = every_row()

    with pytest.raises(StateConflict) as conflict:
        cancelled(task.id)

    assert conflict.value.details["state"] == state
    assert every_row() == before


def test_a_second_request_names_the_first():
    lease = a_lease()
    first = cancelled(lease.task.id)
    before = every_row()

    with pytest.raises(StateConflict) as conflict:
        cancelled(lease.task.id)

    assert conflict.value.details["audit_id"] == first.audit_id
    assert every_row() == before


@pytest.mark.parametrize("is_running", [True, False])
def test_the_same_key_gets_its_receipt_whatever_came_later(is_running):
    lease = a_lease() if is_running else None
    task = Task.objects.get(id=lease.task.id) if lease else a_task()
    identity = an_identity()
    first = called(task, identity=identity)
    if lease:
        reported(lease, "cancelled")
    before = every_row()

    replay = called(task, identity=identity)

    assert replay.deduplicated
    assert task_shape(replay.task) == task_shape(first.task)
    assert replay.audit_id == first.audit_id
    assert every_row() == before


def test_the_same_key_with_other_content_is_refused():
    task = a_task()
    called(task, identity=an_identity(key="k", content=b"1"))

    with pytest.raises(IdempotencyConflict):
        called(task, identity=an_identity(key="k", content=b"2"))


def test_blanks_are_no_reason():
    task = a_task()

    with pytest.raises(InvalidField) as invalid:
        called(task, identity=an_identity(), reason=" ")

    assert invalid.value.field == "reason"
    assert row_of(task.id)["state"] == "WAITING"


def test_the_owner_is_told_when_its_task_is_cancelled():
    task = a_task(owner="SCHEDULE")

    with owned_by(Jobs()) as jobs:
        cancelled(task.id)

    assert jobs.settled == [(task.id, task.owner_id, "CANCELLED")]


def test_a_second_attempt_can_be_asked_to_stop_too():
    lease = a_lease(max_attempts=2)
    reported(lease, "fail", is_retryable=True)
    second = again(lease.task.id)

    cancelled(lease.task.id)

    assert reported(second, "cancelled").state == "CANCELLED"
