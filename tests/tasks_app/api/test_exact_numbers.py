"""Digits that came in are the digits that go out, at every hop."""

import pytest

from orbit.http.exact_json import digest
from orbit.outbox.models import ResultEvent
from tasks_app.models import Task
from tests.builders import a_queue, a_token
from tests.tasks_app.api.calls import (
    Caller,
    a_claim,
    a_retry,
    a_review,
    a_submit,
    with_member,
)

pytestmark = pytest.mark.django_db

NUMBERS = (
    *("9007199254740993", "3544790567247868102", "1E400", "0.1000000000000000055"),
    *("-0", "1.0", "1.10", "123456789012345678901234567890", "-1e-400", "1E+2"),
    *("0.30000000000000004", "18446744073709551616", "0e0", "1" * 4_000),
)
RAW = (
    '{ "numbers": ['
    + ", ".join(NUMBERS)
    + '],\n "text":"\\u00e9\\/\\ud83d\\ude00 账",  "z":1, "a":{"-0":-0.0} }'
)
MEMBER = RAW.encode()


def holds(answer, name):
    return f'"{name}":'.encode() + MEMBER in answer.text


def test_a_payload_is_the_same_text_at_every_hop():
    queue = a_queue()
    caller = Caller(a_token(queue))
    body = with_member(a_submit(queue), "payload", RAW)

    first = caller.post("tasks", body, key="k")
    replay = caller.post("tasks", body, key="k")
    task_id = first.data["task"]["id"]
    detail = caller.get(f"tasks/{task_id}")
    assignment = caller.post(f"queues/{queue.id.hex}:claim", a_claim(), key=None)

    for answer in (first, replay, detail, assignment):
        assert holds(answer, "payload"), answer.text[:300]
    assert Task.objects.get().payload == RAW


def test_a_result_is_the_same_text_at_every_hop():
    queue = a_queue()
    caller = Caller(a_token(queue))
    caller.post("tasks", a_submit(queue))
    [lease] = caller.post(f"queues/{queue.id.hex}:claim", a_claim()).data["assignments"]
    body = with_member({"lease_token": lease["lease_token"]}, "result", RAW)

    reported = caller.post(f"attempts/{lease['attempt_id']}:succeed", body)
    again = caller.post(f"attempts/{lease['attempt_id']}:succeed", body)
    detail = caller.get(f"tasks/{lease['task']['id']}")

    for answer in (reported, again, detail):
        assert holds(answer, "result")
    assert Task.objects.get().result == RAW


def test_a_reviews_result_is_the_same_text_in_answer_replay_audit_and_event():
    queue = a_queue()
    caller = Caller(a_token(queue))
    caller.post("tasks", a_submit(queue))
    [lease] = caller.post(f"queues/{queue.id.hex}:claim", a_claim()).data["assignments"]
    caller.post(
        f"attempts/{lease['attempt_id']}:unknown", {"lease_token": lease["lease_token"]}
    )
    task = Task.objects.get()
    small = '{"n":[' + ",".join(NUMBERS[:-1]) + "]}"
    body = with_member(a_review(task), "result", small)

    first = caller.post(f"tasks/{task.id.hex}:review", body, key="k")
    replay = caller.post(f"tasks/{task.id.hex}:review", body, key="k")
    audit = caller.get(f"tasks/{task.id.hex}/operations/{first.data['audit_id']}")

    for answer in (first, replay, caller.get(f"tasks/{task.id.hex}")):
        assert f'"result":{small}'.encode() in answer.text
    assert audit.data["after"]["result_digest"] == digest(small)
    event = ResultEvent.objects.get(kind="task.failed")
    assert f'"result":{small}' in event.payload


def test_a_child_has_the_same_text_as_its_source():
    queue = a_queue()
    caller = Caller(a_token(queue))
    body = with_member(a_submit(queue), "payload", RAW)
    task_id = caller.post("tasks", body).data["task"]["id"]
    caller.post(f"tasks/{task_id}:cancel")
    source = Task.objects.get()

    first = caller.post(f"tasks/{task_id}:retry", a_retry(source), key="k")
    replay = caller.post(f"tasks/{task_id}:retry", a_retry(source), key="k")
    assignment = caller.post(f"queues/{queue.id.hex}:claim", a_claim())

    for answer in (first, replay, assignment):
        assert holds(answer, "payload")
    [lease] = assignment.data["assignments"]
    assert lease["task"]["retry_of"] == task_id


def test_late_evidence_keeps_its_digits():
    queue = a_queue()
    caller = Caller(a_token(queue))
    caller.post("tasks", a_submit(queue))
    [lease] = caller.post(f"queues/{queue.id.hex}:claim", a_claim()).data["assignments"]
    path, proof = (
        f"attempts/{lease['attempt_id']}",
        {"lease_token": lease["lease_token"]},
    )
    caller.post(f"{path}:unknown", proof)

    late = caller.post(f"{path}:succeed", with_member(proof, "result", RAW))
    history = caller.get(f"tasks/{lease['task']['id']}/attempts")

    assert late.conflict == (409, "STATE_CONFLICT", "LEASE")
    assert holds(history, "result")


def test_numbers_written_differently_have_different_digests():
    assert digest("1.0") != digest("1")
    assert digest("-0") != digest("0")
    assert digest('{"b":1, "a":1.10}') == digest('{"a":1.10,"b":1}')
