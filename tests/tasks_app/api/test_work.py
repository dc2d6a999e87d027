"""The worker protocol as a worker sees it."""

import pytest

from tasks_app.models import Queue, Task
from tests.builders import (
    a_lease,
    a_queue,
    a_task,
    a_token,
    cancelled,
    every_row,
    reported,
)
from tests.tasks_app.api.calls import Caller, a_claim

pytestmark = pytest.mark.django_db

ERROR = {"code": "BROKEN", "message": "no"}


def a_worker(lease):
    queue = Queue.objects.get(id=lease.task.queue_id)
    return Caller(a_token(queue, scopes=("tasks:work",)))


def proof(lease, **members):
    return {"lease_token": lease.lease_token, **members}


def test_an_assignment_has_all_that_a_worker_needs():
    queue = a_queue()
    task = a_task(queue=queue, business_key="order:1", concurrency_key="a")

    answer = Caller(a_token(queue)).post(f"queues/{queue.id.hex}:claim", a_claim())

    [assignment] = answer.data["assignments"]
    assert set(assignment) == {
        *("attempt_id", "attempt_number", "lease_token", "lease_expires_at", "task")
    }
    assert assignment["attempt_number"] == 1
    shown = assignment["task"]
    assert (shown["id"], shown["state"], shown["revision"]) == (
        task.id.hex,
        "RUNNING",
        "2",
    )
    assert (shown["business_key"], shown["concurrency_key"]) == ("order:1", "a")
    assert "retry_of" not in shown


@pytest.mark.parametrize(
    ("members", "field"),
    [
        ({"max_tasks": 0}, "max_tasks"),
        ({"max_tasks": 101}, "max_tasks"),
        ({"max_tasks": "1"}, "max_tasks"),
        ({"max_tasks": None}, "max_tasks"),
        ({"lease_ms": 999}, "lease_ms"),
        ({"lease_ms": 300_001}, "lease_ms"),
        ({"lease_ms": None}, "lease_ms"),
        ({"handlers": []}, "handlers"),
        ({"handlers": None}, "handlers"),
        ({"handlers": [{"handler": "x"}]}, "handlers[0].handler_version"),
        ({"worker": {"name": "w"}}, "worker.instance_id"),
        ({"worker": {"name": "", "instance_id": "5" * 32}}, "worker.name"),
        ({"worker": {"name": "w" * 201, "instance_id": "5" * 32}}, "worker.name"),
        ({"worker": {"name": "w", "instance_id": "A" * 32}}, "worker.instance_id"),
        ({"Worker": {}}, "Worker"),
    ],
)
def test_a_claim_that_breaks_a_rule_starts_nothing(members, field):
    task = a_task()
    before = every_row()

    answer = Caller(a_token(task.queue)).post(
        f"queues/{task.queue_id.hex}:claim", a_claim(**members)
    )

    assert answer.refusal == (400, "INVALID_ARGUMENT", field)
    assert every_row() == before


@pytest.mark.parametrize("lease_ms", [1_000, 300_000])
def test_a_lease_may_be_as_short_and_as_long_as_published(lease_ms):
    task = a_task(attempt_timeout_ms=400_000, task_timeout_ms=400_000)

    answer = Caller(a_token(task.queue)).post(
        f"queues/{task.queue_id.hex}:claim", a_claim(lease_ms=lease_ms)
    )

    assert len(answer.data["assignments"]) == 1


def test_a_heartbeat_answers_expiry_and_cancel_and_after_the_end_the_state():
    lease = a_lease()
    worker = a_worker(lease)
    path = f"attempts/{lease.attempt_id.hex}:heartbeat"
    quiet = worker.post(path, proof(lease), key=None)
    cancelled(lease.task.id)
    asked = worker.post(path, proof(lease), key=None)
    reported(lease, "cancelled")

    ended = worker.post(path, proof(lease), key=None)

    assert set(quiet.data) == {"lease_expires_at", "cancel_requested"}
    assert quiet.data["cancel_requested"] is False
    assert asked.data["cancel_requested"] is True
    assert ended.conflict == (409, "STATE_CONFLICT", "LEASE")
    assert (ended.error["state"], ended.error["revision"]) == ("CANCELLED", "3")


@pytest.mark.parametrize(
    ("verb", "members", "field"),
    [
        ("succeed", {}, "result"),
        ("succeed", {"result": 1, "error": ERROR}, "error"),
        ("fail", {"retryable": True}, "error"),
        ("fail", {"error": ERROR}, "retryable"),
        ("fail", {"error": ERROR, "retryable": "true"}, "retryable"),
        ("fail", {"error": ERROR, "retryable": None}, "retryable"),
        (
            "fail",
            {"error": {"code": "", "message": ""}, "retryable": True},
            "error.code",
        ),
        (
            "fail",
            {"error": {"code": "c" * 101, "message": ""}, "retryable": True},
            "error.code",
        ),
        (
            "fail",
            {"error": {"code": "c", "message": "m" * 2001}, "retryable": True},
            "error.message",
        ),
        ("unknown", {"error": None}, "error"),
        ("unknown", {"result": 1}, "result"),
        ("cancelled", {"reason": "x"}, "reason"),
        ("heartbeat", {"lease_token": None}, "lease_token"),
        ("heartbeat", {"lease_token": ""}, "lease_token"),
        ("heartbeat", {"lease_token": "t" * 129}, "lease_token"),
    ],
)
def test_a_report_that_breaks_a_rule_leaves_the_lease_reportable(verb, members, field):
    lease = a_lease()
    worker = a_worker(lease)
    path = f"attempts/{lease.attempt_id.hex}"
    before = every_row()

    answer = worker.post(f"{path}:{verb}", {**proof(lease), **members}, key=None)

    assert answer.refusal == (400, "INVALID_ARGUMENT", field)
    assert every_row() == before
    assert worker.post(f"{path}:unknown", proof(lease), key=None).status == 200


def test_a_success_may_have_null_for_its_result():
    lease = a_lease()

    answer = a_worker(lease).post(
        f"attempts/{lease.attempt_id.hex}:succeed", proof(lease, result=None)
    )

    assert answer.data["task"]["state"] == "SUCCEEDED"
    assert answer.data["task"]["result"] is None


def test_many_reports_have_each_an_answer():
    queue = a_queue()
    first, second, third = (a_lease(queue=queue) for _ in range(3))
    reported(third, "fail")

    def entry(lease, kind, **members):
        return proof(lease, attempt_id=lease.attempt_id.hex, kind=kind, **members)

    results = (
        Caller(a_token(queue))
        .post(
            "attempts:report",
            {
                "reports": [
                    entry(first, "succeed", result=1),
                    entry(second, "fail", error=ERROR, retryable=False),
                    entry(third, "unknown"),
                    {**entry(first, "cancelled"), "attempt_id": "1" * 32},
                ]
            },
            key=None,
        )
        .data["results"]
    )

    assert [result["status"] for result in results] == [200, 200, 409, 404]
    assert [result.get("task", {}).get("state") for result in results] == [
        *("SUCCEEDED", "FAILED", None, None)
    ]
    assert results[2]["error"]["reason"] == "LEASE"
    assert results[0]["attempt_id"] == first.attempt_id.hex
    assert set(results[0]["task"]) == {"id", "state", "revision"}


@pytest.mark.parametrize("count", [0, 101])
def test_a_batch_has_one_to_a_hundred_reports(count):
    entry = {"attempt_id": "1" * 32, "kind": "unknown", "lease_token": "t"}
    caller = Caller(a_token(a_queue()))

    answer = caller.post("attempts:report", {"reports": [entry] * count})

    assert answer.refusal == (400, "INVALID_ARGUMENT", "reports")


@pytest.mark.parametrize(
    ("kind", "members", "field"),
    [
        ("succeed", {}, "result"),
        ("fail", {"error": ERROR}, "retryable"),
        ("unknown", {"result": 1}, "result"),
        ("cancelled", {"error": ERROR}, "error"),
        ("exploded", {}, "kind"),
    ],
)
def test_a_batch_with_a_malformed_report_takes_none_and_names_it(kind, members, field):
    queue = a_queue()
    first, second = a_lease(queue=queue), a_lease(queue=queue)
    before = every_row()

    answer = Caller(a_token(queue)).post(
        "attempts:report",
        {
            "reports": [
                proof(first, attempt_id=first.attempt_id.hex, kind="unknown"),
                proof(second, attempt_id=second.attempt_id.hex, kind=kind, **members),
            ]
        },
    )

    assert answer.refusal == (400, "INVALID_ARGUMENT", f"reports[1].{field}")
    assert every_row() == before


def test_attempts_show_what_a_reviewer_needs():
    lease = a_lease()
    reported(lease, "unknown")
    reported(lease, "succeed")
    task = Task.objects.get()
    caller = Caller(a_token(task.queue))

    answer = caller.get(f"tasks/{task.id.hex}/attempts")

    [attempt] = answer.data["items"]
    assert set(attempt) == {
        *("id", "number", "outcome", "worker", "started_at", "lease_expires_at"),
        *("evidence", "ended_at", "error"),
    }
    assert attempt["worker"] == {"name": "worker-1", "instance_id": "5" * 32}
    assert [item["kind"] for item in attempt["evidence"]] == ["succeed"]
    assert lease.lease_token.encode() not in answer.text
