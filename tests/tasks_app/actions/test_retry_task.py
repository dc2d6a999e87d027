"""The retry: a final task is executed again as a new, linked one."""

import json
from datetime import timedelta

import pytest

from orbit.outbox.models import ResultEvent
from tasks_app.actions.configure_queue import configure_queue
from tasks_app.api.shapes import task_shape
from tasks_app.domain.errors import (
    ApplicationFull,
    IdempotencyConflict,
    InvalidField,
    QueueFull,
    StateConflict,
)
from tasks_app.domain.limits import QueueLimits
from tasks_app.models import Attempt, OperationAudit, Permit, Receipt, Task
from tests.builders import (
    OPERATOR,
    SUBMITTER,
    a_lease,
    a_queue,
    a_task,
    again,
    an_application,
    an_identity,
    cancelled,
    claimed,
    every_row,
    moment_in,
    reported,
    retried,
    reviewed,
    room_of,
    row_of,
)
from tests.tasks_app.actions.test_review_task import Jobs, owned_by

pytestmark = pytest.mark.django_db

INHERITED = (
    "namespace_id",
    "application_id",
    "queue_id",
    "handler",
    "handler_version",
    "payload_version",
    "payload",
    "business_key",
    "concurrency_key",
    "priority",
    "recovery_safety",
    "max_attempts",
    "initial_delay_ms",
    "max_delay_ms",
    "attempt_timeout_ms",
)


def a_rich_task(*, state, queue=None):
    return a_task(
        state=state,
        queue=queue,
        payload='{"n":3544790567247868102,"f":0.1000000000000000055}',
        business_key="order:1",
        concurrency_key="account:7",
        priority=-3,
        recovery_safety="REPLAY_SAFE",
        max_attempts=4,
        initial_delay_ms=10,
        max_delay_ms=20,
        attempt_timeout_ms=12_345,
        handler="ledger.transfer",
        handler_version="v7",
        payload_version="v8",
        start_deadline_at=moment_in(seconds=30),
    )


def refused(task, error=StateConflict, **changes):
    """The refusal of a retry that must leave no trace."""
    before = every_row()
    with pytest.raises(error) as conflict:
        retried(task, **changes)
    assert every_row() == before
    return conflict.value


@pytest.mark.parametrize("state", ["FAILED", "CANCELLED"])
def test_the_child_inherits_the_work_and_has_a_life_of_its_own(state):
    source = a_rich_task(state=state)

    answer = retried(source, task_timeout_ms=90_000)

    child = row_of(answer.task.id)
    for name in INHERITED:
        assert child[name] == getattr(source, name), name
    assert child["id"] != source.id
    assert child["retry_of"] == source.id
    assert (child["state"], child["revision"], child["attempt_count"]) == (
        "WAITING",
        1,
        0,
    )
    assert child["deadline_at"] - child["created_at"] == timedelta(seconds=90)
    assert child["available_at"] == child["created_at"]
    assert child["start_deadline_at"] is None
    assert child["submitted_by"] == OPERATOR.id != SUBMITTER.id
    assert child["result"] is child["error_code"] is child["completed_at"] is None
    for name, value in answer.task._asdict().items():
        assert child[name] == value, name


@pytest.mark.parametrize("state", ["FAILED", "CANCELLED"])
def test_the_source_does_not_change_in_any_column(state):
    source = a_task(state=state)
    before = row_of(source.id)
    attempts = list(Attempt.objects.values())

    retried(source)

    # Its audit chain is longer by this act; the task itself is as it was.
    after = row_of(source.id)
    assert after.pop("audit_length") == before.pop("audit_length") + 1
    assert after.pop("audit_head") != before.pop("audit_head")
    assert after == before
    assert list(Attempt.objects.values()) == attempts


def test_the_act_is_audited_on_the_source_and_told_with_the_child():
    source = a_task(state="FAILED")

    answer = retried(source, task_timeout_ms=60_001)

    audit = OperationAudit.objects.get(id=answer.audit_id)
    assert (audit.task_id, audit.action, audit.actor_id) == (
        source.id,
        "task.retry",
        OPERATOR.id,
    )
    assert (audit.reason, audit.evidence_ref) == ("the cause is gone", "evidence:2")
    assert json.loads(audit.before) == {"state": "FAILED", "revision": "3"}
    assert json.loads(audit.after) == {
        "source_task_id": source.id.hex,
        "retry_task_id": answer.task.id.hex,
        "safe_to_retry": True,
        "task_timeout_ms": 60_001,
    }
    accepted = OperationAudit.objects.get(task_id=answer.task.id)
    assert accepted.action == "task.accept"
    event = ResultEvent.objects.get(task_id=answer.task.id)
    body = json.loads(event.payload)
    assert event.kind == "task.accepted"
    assert body["retry_of"] == source.id.hex
    assert body["audit_id"] == audit.id.hex


def test_the_child_takes_one_unit_of_quota():
    queue = a_queue(max_outstanding=10)
    source = a_task(state="FAILED", queue=queue)
    assert room_of(queue.id) == 10

    retried(source)

    assert room_of(queue.id) == 9
    assert room_of(queue.application_id) == 999_999


def test_the_worker_of_the_child_sees_where_it_comes_from():
    source = a_task(state="FAILED")
    child = retried(source).task

    [lease] = claimed(source.queue)

    assert lease.task.id == child.id
    assert lease.task.retry_of == source.id


@pytest.mark.parametrize(
    ("state", "word"),
    [
        ("WAITING", "WAITING"),
        ("RUNNING", "RUNNING"),
        ("NEEDS_REVIEW", "review"),
        ("SUCCEEDED", "succeeded"),
    ],
)
def test_only_what_failed_or_was_cancelled_can_be_retried(state, word):
    task = a_task(state=state)

    conflict = refused(task)

    assert conflict.details["reason"] == "STATE"
    assert conflict.details["state"] == state
    assert word in conflict.message


def test_a_decision_on_an_older_picture_is_refused():
    task = a_task(state="FAILED")

    conflict = refused(task, expected_revision="2")

    assert conflict.details["reason"] == "REVISION"


def test_a_task_has_one_direct_successor_and_the_refusal_names_it():
    source = a_task(state="FAILED")
    first = retried(source)

    conflict = refused(source)

    assert conflict.details["reason"] == "ALREADY_RETRIED"
    assert conflict.details["successor_task_id"] == first.task.id
    assert conflict.details["audit_id"] == first.audit_id
    assert Task.objects.filter(retry_of=source.id).count() == 1


def test_the_successor_can_be_retried_in_its_turn():
    source = a_task(state="FAILED")
    child = retried(source).task
    reported(again(child.id), "fail")

    grandchild = retried(Task.objects.get(id=child.id)).task

    assert grandchild.retry_of == child.id
    assert grandchild.payload == source.payload


def test_a_reviewed_failure_can_be_retried():
    task = a_task(state="NEEDS_REVIEW")
    reviewed(task, outcome="FAILED")

    child = retried(Task.objects.get(id=task.id)).task

    assert child.retry_of == task.id


def test_a_workflows_task_is_not_retried_directly():
    task = a_task(state="FAILED", owner="WORKFLOW")

    assert refused(task).details["reason"] == "OWNER"


def test_a_jobs_task_is_not_retried_directly():
    with owned_by(Jobs()):
        task = a_task(state="FAILED", owner="SCHEDULE")
        conflict = refused(task)

    assert conflict.details["reason"] == "OWNER"
    assert conflict.message == "A job's task is not retried directly."


def test_an_active_attempt_or_a_permit_is_in_the_way():
    lease = a_lease(queue=a_queue(max_concurrency=1))
    permit = Permit.objects.get()
    reported(lease, "fail")
    task = Task.objects.get(id=lease.task.id)

    Permit.objects.bulk_create([permit])
    assert refused(task).details["reason"] == "PERMIT"

    Attempt.objects.update(outcome="ACTIVE", ended_at=None)
    assert refused(task).details["reason"] == "LEASE"


def test_the_same_key_gets_its_receipt_after_the_child_ended_and_the_queue_is_full():
    queue = a_queue(max_outstanding=1)
    source = a_task(state="FAILED", queue=queue)
    identity = an_identity()
    first = retried(source, identity=identity)
    reported(again(first.task.id), "succeed")
    a_task(queue=queue)
    before = every_row()

    replay = retried(source, identity=identity)

    assert replay.deduplicated
    assert task_shape(replay.task) == task_shape(first.task)
    assert replay.audit_id == first.audit_id
    assert every_row() == before


def test_the_same_key_with_other_content_is_refused():
    source = a_task(state="FAILED")
    retried(source, identity=an_identity(key="k", content=b"1"))

    refused(source, IdempotencyConflict, identity=an_identity(key="k", content=b"2"))


@pytest.mark.parametrize("full", ["queue", "application"])
def test_without_room_there_is_no_child_and_the_key_is_free(full):
    application = an_application(max_outstanding=1 if full == "application" else 9)
    queue = a_queue(
        application=application, max_outstanding=1 if full == "queue" else 9
    )
    source = a_task(state="FAILED", queue=queue)
    blocker = a_task(queue=queue)
    identity = an_identity()

    error = refused(
        source, QueueFull if full == "queue" else ApplicationFull, identity=identity
    )

    assert error.details["retry_after_ms"] > 0
    assert Receipt.objects.filter(operation="task.retry").count() == 0
    cancelled(blocker.id)
    assert not retried(source, identity=identity).deduplicated


def test_a_paused_queue_accepts_the_child_and_does_not_start_it():
    source = a_task(state="FAILED")
    configure_queue(queue_id=source.queue_id, limits=QueueLimits(is_paused=True))

    child = retried(source).task

    assert child.state == "WAITING"
    assert claimed(source.queue) == []


def test_a_child_waits_for_the_concurrency_key_that_another_task_holds():
    queue = a_queue(key_concurrency=1)
    source = a_task(state="FAILED", queue=queue, concurrency_key="a")
    holder = a_lease(queue=queue, concurrency_key="a")

    child = retried(source).task

    assert claimed(queue) == []
    reported(holder, "succeed")
    [lease] = claimed(queue)
    assert lease.task.id == child.id


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"reason": " "}, "reason"),
        ({"evidence_ref": "a\tb"}, "evidence_ref"),
        ({"safe_to_retry": False}, "safe_to_retry"),
        ({"task_timeout_ms": 9_999}, "task_timeout_ms"),
        ({"available_at": "2001-01-01T00:00:00Z"}, "available_at"),
        ({"available_at": "2026-02-30T00:00:00Z"}, "available_at"),
        ({"available_at": "9000-01-01T00:00:00Z"}, "available_at"),
        ({"start_deadline_at": "2001-01-01T00:00:00Z"}, "start_deadline_at"),
        ({"start_deadline_at": "9000-01-01T00:00:00Z"}, "start_deadline_at"),
    ],
)
def test_a_broken_rule_names_its_field_and_touches_nothing(changes, field):
    source = a_task(state="FAILED")

    assert refused(source, InvalidField, **changes).field == field


def test_a_child_for_later_waits_until_then():
    source = a_task(state="FAILED")

    child = retried(source, available_at=moment_in(seconds=30)).task

    stored = row_of(child.id)
    assert not stored["is_due"]
    assert stored["available_at"] == child.available_at == stored["due_at"]
    assert claimed(source.queue) == []


def test_the_childs_budget_covers_exactly_one_attempt():
    source = a_task(state="FAILED")

    child = retried(source, task_timeout_ms=10_000).task

    assert child.deadline_at - child.created_at == timedelta(seconds=10)
