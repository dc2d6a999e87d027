"""Review and retry as a client sees them, field by field."""

import pytest

from tasks_app.models import Task
from tests.builders import (
    a_lease,
    a_queue,
    a_task,
    a_token,
    an_application,
    cancelled,
    every_row,
    reported,
    row_of,
)
from tests.tasks_app.api.calls import Caller, a_claim, a_retry, a_review, a_submit

pytestmark = pytest.mark.django_db

# The members of the source's examples; ours beyond them are `MORE`.
TASK = {
    *("id", "namespace_id", "queue_id", "state", "revision", "handler"),
    *("handler_version", "payload_version", "payload", "business_key"),
    *("available_at", "deadline_at", "recovery_safety", "retry", "attempt_count"),
    *("created_at", "updated_at"),
}
MORE = {"priority", "effect_uncertain", "owner"}


def uncertain_by_api(queue, caller):
    body = a_submit(queue, business_key="object:operation-001")
    caller.post("tasks", body)
    [lease] = caller.post(f"queues/{queue.id.hex}:claim", a_claim()).data["assignments"]
    caller.post(
        f"attempts/{lease['attempt_id']}:unknown", {"lease_token": lease["lease_token"]}
    )
    return Task.objects.get(id=lease["task"]["id"])


def test_a_review_answers_as_the_source_says():
    queue = a_queue()
    token = a_token(queue)
    caller = Caller(token)
    task = uncertain_by_api(queue, caller)

    answer = caller.post(f"tasks/{task.id.hex}:review", a_review(task))

    assert answer.status == 200
    assert set(answer.data) == {"task", "audit_id", "deduplicated"}
    assert answer.data["deduplicated"] is False
    shown = answer.data["task"]
    assert set(shown) == TASK | MORE | {"result", "completed_at"}
    assert {name: shown[name] for name in TASK - {"payload", "retry"}} == {
        "id": task.id.hex,
        "namespace_id": queue.namespace_id.hex,
        "queue_id": queue.id.hex,
        "state": "FAILED",
        "revision": "4",
        "handler": "object.prepare",
        "handler_version": "v1",
        "payload_version": "v1",
        "business_key": "object:operation-001",
        "available_at": shown["created_at"],
        "deadline_at": shown["deadline_at"],
        "recovery_safety": "RECONCILE_ONLY",
        "attempt_count": 1,
        "created_at": shown["created_at"],
        "updated_at": shown["completed_at"],
    }
    assert shown["retry"] == {
        "max_attempts": 1,
        "initial_delay_ms": 0,
        "max_delay_ms": 0,
        "attempt_timeout_ms": 10_000,
    }
    assert shown["payload"] == a_submit(queue)["payload"]
    assert shown["result"] == a_review(task)["result"]
    assert shown["completed_at"].endswith("Z")
    assert caller.get(f"tasks/{task.id.hex}").data == shown

    audit = caller.get(f"tasks/{task.id.hex}/operations/{answer.data['audit_id']}").data
    assert audit["actor_id"] == token.token_id.hex
    assert audit["action"] == "task.review"
    assert audit["before"] == {"state": "NEEDS_REVIEW", "revision": "3"}
    assert set(audit["after"]) == {
        *("state", "revision", "effect_uncertain", "execution_settled", "result_digest")
    }


def test_a_retry_answers_as_the_source_says():
    queue = a_queue()
    caller = Caller(a_token(queue))
    source = uncertain_by_api(queue, caller)
    caller.post(f"tasks/{source.id.hex}:review", a_review(source))
    before = row_of(source.id)
    source = Task.objects.get(id=source.id)

    answer = caller.post(f"tasks/{source.id.hex}:retry", a_retry(source))

    assert answer.status == 201
    assert set(answer.data) == {"source_task_id", "task", "audit_id", "deduplicated"}
    assert answer.data["source_task_id"] == source.id.hex
    child = answer.data["task"]
    assert set(child) == TASK | MORE | {"retry_of"}
    assert child["retry_of"] == source.id.hex
    assert (child["state"], child["revision"], child["attempt_count"]) == (
        "WAITING",
        "1",
        0,
    )
    assert child["payload"] == a_submit(queue)["payload"]
    after = row_of(source.id)
    for head in ("audit_length", "audit_head"):
        assert after.pop(head) != before.pop(head)
    assert after == before
    audit = caller.get(
        f"tasks/{source.id.hex}/operations/{answer.data['audit_id']}"
    ).data
    assert audit["before"] == {"state": "FAILED", "revision": "4"}
    assert audit["after"] == {
        "source_task_id": source.id.hex,
        "retry_task_id": child["id"],
        "safe_to_retry": True,
        "task_timeout_ms": 60_000,
    }


def test_where_a_task_comes_from_is_in_its_detail_and_not_in_lists():
    source = a_task(state="FAILED")
    caller = Caller(a_token(source.queue))
    child = caller.post(f"tasks/{source.id.hex}:retry", a_retry(source)).data["task"]

    detail = caller.get(f"tasks/{child['id']}").data
    listed = caller.get("tasks").data["items"]

    assert detail["retry_of"] == source.id.hex
    assert child["id"] in [item["id"] for item in listed]
    for item in listed:
        assert not {"retry_of", "payload", "result"} & set(item)


@pytest.mark.parametrize(
    ("verb", "maker", "state"),
    [
        *(("review", a_review, s) for s in ("WAITING", "RUNNING", "FAILED")),
        *(("review", a_review, s) for s in ("SUCCEEDED", "CANCELLED")),
        *(("retry", a_retry, s) for s in ("WAITING", "RUNNING", "NEEDS_REVIEW")),
        ("retry", a_retry, "SUCCEEDED"),
    ],
)
def test_a_conflict_tells_the_present_state_and_who_made_it(verb, maker, state):
    task = a_task(state=state)
    caller = Caller(a_token(task.queue))
    before = every_row()

    answer = caller.post(f"tasks/{task.id.hex}:{verb}", maker(task))

    assert answer.conflict == (409, "STATE_CONFLICT", "STATE")
    assert answer.error["state"] == state
    assert answer.error["revision"] == str(task.revision)
    newest = caller.get(f"tasks/{task.id.hex}/operations").data["items"][0]
    assert answer.error["audit_id"] == newest["id"]
    assert answer.error["settled_at"] == newest["created_at"]
    assert every_row() == before


def test_a_second_retry_names_the_successor():
    source = a_task(state="FAILED")
    caller = Caller(a_token(source.queue))
    path = f"tasks/{source.id.hex}:retry"
    child = caller.post(path, a_retry(source)).data

    answer = caller.post(path, a_retry(source))

    assert answer.conflict == (409, "STATE_CONFLICT", "ALREADY_RETRIED")
    assert answer.error["successor_task_id"] == child["task"]["id"]
    assert answer.error["audit_id"] == child["audit_id"]


@pytest.mark.parametrize("owner", ["WORKFLOW"])
@pytest.mark.parametrize(
    ("verb", "maker", "state"),
    [("review", a_review, "NEEDS_REVIEW"), ("retry", a_retry, "FAILED")],
)
def test_an_owned_task_is_recovered_through_its_owner(verb, maker, state, owner):
    task = a_task(state=state, owner=owner)
    before = every_row()

    answer = Caller(a_token(task.queue)).post(
        f"tasks/{task.id.hex}:{verb}", maker(task)
    )

    assert answer.conflict == (409, "STATE_CONFLICT", "OWNER")
    assert every_row() == before


@pytest.mark.parametrize("full", ["QUEUE_FULL", "APPLICATION_FULL"])
def test_without_room_a_retry_says_when_to_ask_again(full):
    application = an_application(max_outstanding=1 if full == "APPLICATION_FULL" else 9)
    queue = a_queue(application=application, max_outstanding=1)
    if full == "APPLICATION_FULL":
        queue = a_queue(application=application)
    source = a_task(queue=queue, state="FAILED")
    blocker = a_task(queue=queue)
    caller = Caller(a_token(queue))
    path = f"tasks/{source.id.hex}:retry"
    before = every_row()

    answer = caller.post(path, a_retry(source), key="k")

    assert (answer.status, answer.error["code"]) == (429, full)
    assert answer.error["retry_after_ms"] == 1_000
    assert answer.headers["Retry-After"] == "1"
    assert every_row() == before
    cancelled(blocker.id)
    assert caller.post(path, a_retry(source), key="k").status == 201


def test_a_late_report_after_the_review_is_only_evidence():
    lease = a_lease()
    reported(lease, "unknown")
    task = Task.objects.get()
    caller = Caller(a_token(task.queue))
    caller.post(f"tasks/{task.id.hex}:review", a_review(task))
    before = row_of(task.id)

    late = caller.post(
        f"attempts/{lease.attempt_id.hex}:succeed",
        {"lease_token": lease.lease_token, "result": 1},
    )

    assert late.conflict == (409, "STATE_CONFLICT", "LEASE")
    assert late.error["state"] == "FAILED"
    assert row_of(task.id) == before
    [attempt] = caller.get(f"tasks/{task.id.hex}/attempts").data["items"]
    assert attempt["outcome"] == "UNKNOWN"
    [evidence] = attempt["evidence"]
    assert evidence["kind"] == "succeed"
    assert evidence["content"]["result"] == 1
