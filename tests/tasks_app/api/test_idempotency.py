"""The same key again, in every way a client may send it."""

import json

import pytest

from tasks_app.models import Receipt, Task
from tests.builders import (
    a_queue,
    a_task,
    a_token,
    again,
    an_application,
    cancelled,
    every_row,
    reported,
    reviewed,
)
from tests.tasks_app.api.calls import Caller, a_retry, a_review, a_submit, written

pytestmark = pytest.mark.django_db


def without(answer, *names):
    return {name: value for name, value in answer.data.items() if name not in names}


def shuffled(body):
    """The same content in another order and with other white space."""
    turned = dict(reversed(body.items()))
    return json.dumps(turned, indent=3, ensure_ascii=True).encode() + b"\n"


def test_a_submit_is_answered_alike_whatever_became_of_the_task():
    queue = a_queue(max_outstanding=1)
    caller = Caller(a_token(queue))
    body = a_submit(queue)
    first = caller.post("tasks", body, key="k")
    task_id = first.data["task"]["id"]

    def replayed():
        replay = caller.post("tasks", body, key="k")
        assert replay.status == 200
        assert replay.data["deduplicated"] is True
        assert without(replay, "deduplicated") == without(first, "deduplicated")

    assert first.status == 201
    replayed()
    lease = again(Task.objects.get().id)
    replayed()
    reported(lease, "unknown")
    replayed()
    reviewed(Task.objects.get())
    replayed()
    a_task(queue=queue)
    replayed()
    assert Task.objects.filter(id=task_id).count() == 1


@pytest.mark.parametrize(
    ("state", "verb", "maker"),
    [("NEEDS_REVIEW", "review", a_review), ("FAILED", "retry", a_retry)],
)
def test_a_recovery_is_answered_alike_and_compared_by_its_content(state, verb, maker):
    queue = a_queue(max_outstanding=1)
    task = a_task(queue=queue, state=state)
    caller = Caller(a_token(queue))
    path, body = f"tasks/{task.id.hex}:{verb}", maker(task)
    first = caller.post(path, body, key="k")
    if verb == "retry":
        cancelled(Task.objects.get(retry_of=task.id).id)
    a_task(queue=queue)
    before = every_row()

    for same in (written(body), shuffled(body)):
        replay = caller.post(path, same, key="k")
        assert replay.status == 200
        assert replay.data["deduplicated"] is True
        assert without(replay, "deduplicated") == without(first, "deduplicated")
    for other in ({**body, "reason": "another"}, {**body, "expected_revision": "9"}):
        answer = caller.post(path, other, key="k")
        assert answer.refusal[:2] == (409, "IDEMPOTENCY_CONFLICT")

    assert every_row() == before


def test_numbers_that_are_written_differently_are_other_content():
    queue = a_queue()
    caller = Caller(a_token(queue))
    body = written(a_submit(queue, payload="@"))
    assert caller.post("tasks", body.replace(b'"@"', b"1.0"), key="k").status == 201

    answer = caller.post("tasks", body.replace(b'"@"', b"1.00"), key="k")

    assert answer.refusal[:2] == (409, "IDEMPOTENCY_CONFLICT")


def test_a_key_belongs_to_its_operation_and_its_task():
    queue = a_queue()
    caller = Caller(a_token(queue))
    for _ in range(2):
        task = a_task(queue=queue, state="NEEDS_REVIEW")
        path = f"tasks/{task.id.hex}"
        assert caller.post(f"{path}:review", a_review(task), key="k").status == 200
        done = Task.objects.get(id=task.id)
        assert caller.post(f"{path}:retry", a_retry(done), key="k").status == 201
    assert caller.post("tasks", a_submit(queue), key="k").status == 201

    assert Receipt.objects.filter(operation="task.review").count() == 2


def test_keys_of_two_applications_do_not_meet():
    namespace_id = an_application().namespace_id
    queues = [
        a_queue(application=an_application(namespace_id=namespace_id)) for _ in "ab"
    ]

    answers = [
        Caller(a_token(queue)).post("tasks", a_submit(queue), key="k")
        for queue in queues
    ]

    assert [answer.status for answer in answers] == [201, 201]


def test_two_tokens_of_one_application_share_their_keys():
    queue = a_queue()
    first, second = (
        Caller(a_token(queue)).post("tasks", a_submit(queue), key="k") for _ in "ab"
    )

    assert (first.status, second.status) == (201, 200)
    assert first.data["task"]["id"] == second.data["task"]["id"]


def test_a_write_that_was_refused_leaves_its_key_to_be_used():
    queue = a_queue(max_outstanding=1)
    blocker = a_task(queue=queue)
    caller = Caller(a_token(queue))
    full = caller.post("tasks", a_submit(queue), key="k")
    assert full.refusal[:2] == (429, "QUEUE_FULL")
    assert full.headers["Retry-After"] == "1"
    assert full.error["retry_after_ms"] == 1_000
    cancelled(blocker.id)

    # Other content even: nothing remembers the refused one.
    answer = caller.post("tasks", a_submit(queue, handler="other"), key="k")

    assert (answer.status, answer.data["deduplicated"]) == (201, False)


def batched(caller, *entries):
    return caller.post("tasks:batch", {"tasks": list(entries)}, key=None).data[
        "results"
    ]


STATES = ("new", "WAITING", "RUNNING", "SUCCEEDED", "FAILED", "NEEDS_REVIEW", "full")
CHANGES = {
    "same": {},
    "other": {"handler": "other"},
    "invalid": {"task_timeout_ms": 1},
    "unknown member": {"colour": "red"},
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("state", STATES)
def test_one_by_one_and_in_a_batch_the_answer_is_the_same(state, change):
    queue = a_queue(max_outstanding=1 if state == "full" else 100)
    caller = Caller(a_token(queue))
    if state == "full":
        a_task(queue=queue)
    elif state != "new":
        caller.post("tasks", a_submit(queue), key="k")
        if state != "WAITING":
            lease = again(Task.objects.get().id)
            kinds = {
                "SUCCEEDED": "succeed",
                "FAILED": "fail",
                "NEEDS_REVIEW": "unknown",
            }
            if state in kinds:
                reported(lease, kinds[state])
    body = a_submit(queue, **CHANGES[change])
    key = "k" if state != "new" or change == "same" else "k2"

    [entry] = batched(caller, {**body, "idempotency_key": key})
    # A second call would find what the first made: undo by asking with the same key.
    single = caller.post("tasks", body, key=key)

    if "error" in entry:
        expected = {**entry["error"]}
        if "field" in expected:
            expected["field"] = expected["field"].removeprefix("tasks[0].")
        assert single.status == entry["status"]
        assert single.error["code"] == expected["code"]
        assert single.error.get("field") == expected.get("field")
    else:
        assert single.status == 200
        assert entry["status"] == (200 if state not in {"new", "full"} else 201)
        task = single.data["task"]
        assert entry["task"] == {name: task[name] for name in entry["task"]}


def test_a_batch_tells_of_each_entry_what_became_of_it():
    queue, other = a_queue(), a_queue()
    caller = Caller(a_token(queue))
    known = caller.post("tasks", a_submit(queue), key="known").data["task"]["id"]

    def entry(key, **changes):
        return a_submit(queue, idempotency_key=key, **changes)

    results = batched(
        caller,
        entry("a"),
        entry("known"),
        entry("a"),
        entry("a", handler="other"),
        entry("known", handler="other"),
        entry("b", queue_id=other.id.hex),
        entry("c d"),
        entry("e", task_timeout_ms=0),
        {"queue_id": queue.id.hex},
        entry("f"),
    )

    assert [result["status"] for result in results] == [
        *(201, 200, 200, 409, 409, 404, 400, 400, 400, 201)
    ]
    assert results[1]["task"]["id"] == known
    assert results[2]["task"]["id"] == results[0]["task"]["id"]
    assert [result["error"].get("field") for result in results[6:9]] == [
        "tasks[6].idempotency_key",
        "tasks[7].task_timeout_ms",
        "tasks[8].handler",
    ]
    assert Task.objects.count() == 3


def test_a_batch_fills_the_queue_and_refuses_the_rest():
    queue = a_queue(max_outstanding=2)
    caller = Caller(a_token(queue))
    entries = [a_submit(queue, idempotency_key=f"k{n}") for n in range(4)]

    first = batched(caller, *entries)
    second = batched(caller, *entries)

    assert [result["status"] for result in first] == [201, 201, 429, 429]
    assert [result["status"] for result in second] == [200, 200, 429, 429]
    assert first[2]["error"]["code"] == "QUEUE_FULL"
    assert first[2]["error"]["retry_after_ms"] == 1_000


@pytest.mark.parametrize("count", [0, 501])
def test_a_batch_has_one_to_five_hundred_entries(count):
    caller = Caller(a_token(a_queue()))

    answer = caller.post("tasks:batch", {"tasks": [1] * count}, key=None)

    assert answer.refusal == (400, "INVALID_ARGUMENT", "tasks")


def test_five_hundred_tasks_fit_in_one_call():
    queue = a_queue()
    entries = [a_submit(queue, idempotency_key=f"k{n}", payload=n) for n in range(500)]

    results = batched(Caller(a_token(queue)), *entries)

    assert {result["status"] for result in results} == {201}
    assert len({result["task"]["id"] for result in results}) == 500


def test_a_cancel_is_answered_alike():
    task = a_task()
    caller = Caller(a_token(task.queue))
    path = f"tasks/{task.id.hex}:cancel"
    first = caller.post(path, {"reason": "twice"}, key="k")

    replay = caller.post(path, b' { "reason" : "twice" } ', key="k")
    other = caller.post(path, {}, key="k")

    assert (first.status, replay.status) == (200, 200)
    assert without(replay, "deduplicated") == without(first, "deduplicated")
    assert replay.data["deduplicated"] is True
    assert other.refusal[:2] == (409, "IDEMPOTENCY_CONFLICT")
