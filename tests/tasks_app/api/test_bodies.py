"""Bodies, paths and headers: what is refused before anything is read of it."""

import pytest
from django.test import Client

from orbit.http.exact_json import BODY_LIMIT
from tasks_app.domain.commands import MAX_PAYLOAD_BYTES, MAX_RESULT_BYTES
from tests.builders import a_lease, a_queue, a_task, a_token, every_row
from tests.tasks_app.api.calls import (
    Answer,
    Caller,
    a_claim,
    a_retry,
    a_review,
    a_submit,
    with_member,
    written,
)

pytestmark = pytest.mark.django_db

# What exact JSON has no place for, as the text of one member's value.
INEXACT = {
    "duplicate key": '{"a":1,"a":2}',
    "duplicate key, escaped": '{"a":1,"\\u0061":2}',
    "duplicate key, deep": '[{"b":{"a":1,"a":1}}]',
    "NUL": '"a\\u0000b"',
    "NUL in a key": '{"a\\u0000":1}',
    "NUL after an escaped backslash": '"\\\\\\u0000"',
    "lone high surrogate": '"\\ud800"',
    "lone low surrogate": '"\\udc00"',
    "surrogates the wrong way round": '"\\udc00\\ud800"',
    "NaN": "NaN",
    "Infinity": "[Infinity]",
    "minus Infinity": "-Infinity",
    "too deep": "[" * 101 + "]" * 101,
    "raw control character": '"a\x01b"',
    "raw line feed": '"a\nb"',
    "trailing comma": "[1,]",
    "leading zero": "01",
    "plus sign": "+1",
    "single quotes": "'a'",
    "comment": "1/*c*/",
    "nothing": "",
}
INEXACT_BYTES = {
    "invalid UTF-8": b'"\xff"',
    "overlong UTF-8": b'"\xc0\x80"',
    "surrogate in UTF-8": b'"\xed\xa0\x80"',
    "latin-1": '"é"'.encode("latin-1"),
}


def writes():
    """Every write with JSON of the caller's own, and the member that holds it."""
    queue = a_queue()
    lease = a_lease(queue=queue)
    uncertain = a_task(queue=queue, state="NEEDS_REVIEW")
    failed = a_task(queue=queue, state="FAILED")
    proof = {"lease_token": lease.lease_token}
    caller = Caller(a_token(queue))
    return caller, {
        f"tasks/{uncertain.id.hex}:review": (a_review(uncertain), "result"),
        f"tasks/{failed.id.hex}:retry": (a_retry(failed), "reason"),
        "tasks": (a_submit(queue), "payload"),
        f"attempts/{lease.attempt_id.hex}:succeed": (proof, "result"),
        f"attempts/{lease.attempt_id.hex}:fail": (
            {**proof, "retryable": True},
            "error",
        ),
        f"queues/{queue.id.hex}:claim": (a_claim(), "worker"),
    }


@pytest.mark.parametrize("fault", [*INEXACT, *INEXACT_BYTES])
def test_json_that_is_not_exact_is_refused_at_every_write(fault):
    caller, calls = writes()
    raw = INEXACT[fault].encode() if fault in INEXACT else INEXACT_BYTES[fault]
    before = every_row()

    for path, (body, member) in calls.items():
        sent = with_member(body, member, "@").replace(b"@", raw)
        answer = caller.post(path, sent)
        assert answer.refusal[:2] == (400, "INVALID_ARGUMENT"), path

    assert every_row() == before


@pytest.mark.parametrize(
    "spoil",
    [
        lambda body: b"\xef\xbb\xbf" + body,
        lambda body: body + b"{}",
        lambda body: body + b"\x00",
        lambda body: body[:-1],
        lambda _body: b"",
        lambda _body: b"   ",
        lambda body: b"[" + body + b"]",
    ],
    ids=["mark", "two values", "NUL behind", "cut off", "empty", "blank", "array"],
)
def test_a_body_that_is_not_one_object_is_refused_at_every_write(spoil):
    caller, calls = writes()
    before = every_row()

    for path, (body, _) in calls.items():
        answer = caller.post(path, spoil(written(body)))
        assert answer.refusal[:2] == (400, "INVALID_ARGUMENT"), path

    assert every_row() == before


def test_members_twice_in_the_body_itself_are_refused():
    task = a_task(state="NEEDS_REVIEW")
    body = written(a_review(task))[:-1] + b',"outcome":"SUCCEEDED"}'
    before = every_row()

    answer = Caller(a_token(task.queue)).post(f"tasks/{task.id.hex}:review", body)

    assert answer.refusal[:2] == (400, "INVALID_ARGUMENT")
    assert "outcome" in answer.error["message"]
    assert every_row() == before


def test_an_escaped_backslash_before_u0000_is_text_and_survives():
    task = a_task(state="NEEDS_REVIEW")
    raw = '{"text":"\\\\u0000","deep":["\\\\\\\\u0000"]}'

    answer = Caller(a_token(task.queue)).post(
        f"tasks/{task.id.hex}:review", with_member(a_review(task), "result", raw)
    )

    assert answer.status == 200
    assert f'"result":{raw}'.encode() in answer.text


def test_nesting_up_to_a_hundred_levels_is_accepted():
    queue = a_queue()
    # The body itself is one level.
    raw = "[" * 99 + "]" * 99

    answer = Caller(a_token(queue)).post(
        "tasks", with_member(a_submit(queue), "payload", raw)
    )

    assert answer.status == 201
    assert f'"payload":{raw}'.encode() in answer.text


def padded(body, size):
    """The body with white space up to the size."""
    text = written(body)
    return text + b" " * (size - len(text))


def test_a_body_of_exactly_the_limit_is_read_and_one_byte_more_is_not():
    caller, calls = writes()
    before = every_row()

    for path, (body, _) in calls.items():
        answer = caller.post(path, padded(body, BODY_LIMIT + 1))
        assert answer.refusal[:2] == (413, "BODY_TOO_LARGE"), path
    assert every_row() == before

    path, (body, _) = next(iter(calls.items()))
    assert BODY_LIMIT == 524_288
    assert caller.post(path, padded(body, BODY_LIMIT)).status == 200


def test_a_payload_of_exactly_the_limit_is_accepted_and_one_byte_more_is_not():
    queue = a_queue()
    caller = Caller(a_token(queue))
    fits = "x" * (MAX_PAYLOAD_BYTES - 2)

    large = caller.post("tasks", a_submit(queue, payload=fits + "x"), key="k")
    right = caller.post("tasks", a_submit(queue, payload=fits), key="k")

    assert large.refusal == (400, "INVALID_ARGUMENT", "payload")
    assert right.status == 201


@pytest.mark.parametrize("batched", [False, True])
def test_a_result_too_large_leaves_the_lease_reportable(batched):
    lease = a_lease()
    caller = Caller(a_token(lease_queue(lease)))
    path = f"attempts/{lease.attempt_id.hex}"
    proof = {"lease_token": lease.lease_token}
    large = "x" * (MAX_RESULT_BYTES - 1)
    before = every_row()

    if batched:
        entry = {**proof, "attempt_id": lease.attempt_id.hex, "kind": "succeed"}
        body = {"reports": [{**entry, "result": large}]}
        [answer] = caller.post("attempts:report", body).data["results"]
        assert (answer["status"], answer["error"]["code"]) == (400, "INVALID_ARGUMENT")
        assert answer["error"]["field"] == "result"
    else:
        answer = caller.post(f"{path}:succeed", {**proof, "result": large})
        assert answer.refusal == (400, "INVALID_ARGUMENT", "result")
    assert every_row() == before

    assert caller.post(f"{path}:heartbeat", proof).status == 200
    error = {"code": "RESULT_TOO_LARGE", "message": "kept elsewhere"}
    failed = caller.post(f"{path}:fail", {**proof, "error": error, "retryable": False})
    assert failed.data["task"]["state"] == "FAILED"
    assert failed.data["task"]["error"] == error


def lease_queue(lease):
    return type(a_queue()).objects.get(id=lease.task.queue_id)


def test_a_result_of_exactly_the_limit_is_accepted():
    lease = a_lease()
    result = "x" * (MAX_RESULT_BYTES - 2)

    answer = Caller(a_token(lease_queue(lease))).post(
        f"attempts/{lease.attempt_id.hex}:succeed",
        {"lease_token": lease.lease_token, "result": result},
    )

    assert answer.data["task"]["result"] == result


@pytest.mark.parametrize(
    "content_type",
    [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/jsonx",
        "application/json+x",
        "text/json",
        "",
    ],
)
def test_what_is_not_declared_to_be_json_is_refused(content_type):
    task = a_task(state="NEEDS_REVIEW")
    before = every_row()

    answer = Caller(a_token(task.queue)).post(
        f"tasks/{task.id.hex}:review", a_review(task), content_type=content_type
    )

    assert answer.refusal[:2] == (415, "UNSUPPORTED_MEDIA_TYPE")
    assert every_row() == before


@pytest.mark.parametrize(
    "content_type", ["application/json; charset=utf-8", "Application/JSON"]
)
def test_json_may_be_declared_with_parameters(content_type):
    task = a_task(state="NEEDS_REVIEW")

    answer = Caller(a_token(task.queue)).post(
        f"tasks/{task.id.hex}:review", a_review(task), content_type=content_type
    )

    assert answer.status == 200


@pytest.mark.parametrize(
    "path",
    [
        "nothing",
        "tasks/",
        "tasks/abc",
        "tasks/" + "A" * 32,
        "tasks/" + "1" * 31,
        "tasks/" + "1" * 33,
        "tasks/11111111-1111-1111-1111-111111111111",
        "tasks/" + "1" * 32 + ":explode",
        "tasks/" + "1" * 32 + ":review/",
        "tasks/" + "1" * 32 + "/operations/",
        "tasks/" + "1" * 32 + "/operations/x",
        "events/1",
    ],
)
@pytest.mark.parametrize("method", ["get", "post"])
def test_an_unknown_path_is_answered_as_json(method, path):
    answer = getattr(Caller(a_token(a_queue())), method)(path)

    assert answer.refusal[:2] == (404, "NOT_FOUND")


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("put", "tasks", "GET, POST"),
        ("delete", f"tasks/{'1' * 32}", "GET"),
        ("get", f"tasks/{'1' * 32}:review", "POST"),
        ("get", f"tasks/{'1' * 32}:retry", "POST"),
        ("post", f"tasks/{'1' * 32}/operations", "GET"),
        ("patch", f"tasks/{'1' * 32}", "GET"),
        ("options", "tasks", "GET, POST"),
    ],
)
def test_an_unknown_method_is_answered_as_json_with_those_there_are(
    method, path, allowed
):
    token = a_token(a_queue())

    response = getattr(Client(), method)(
        f"/v1/{path}", headers={"Authorization": f"Bearer {token.plaintext}"}
    )

    answer = Answer(response)
    assert answer.refusal[:2] == (405, "METHOD_NOT_ALLOWED")
    assert set(response["Allow"].split(", ")) - {"HEAD"} == set(allowed.split(", "))


KEYED = ("review", "retry", "cancel", "submit")


@pytest.mark.parametrize(
    "key",
    [None, " ", "k" * 129, "a b", "a/b", "a\tb", "é", "a,b", "a'b", "%61"],
    ids=repr,
)
@pytest.mark.parametrize("verb", KEYED)
def test_a_write_needs_a_key_of_plain_characters(verb, key):
    states = {"review": "NEEDS_REVIEW", "retry": "FAILED"}
    task = a_task(state=states.get(verb, "WAITING"))
    path, body = {
        "review": (f"tasks/{task.id.hex}:review", a_review(task)),
        "retry": (f"tasks/{task.id.hex}:retry", a_retry(task)),
        "cancel": (f"tasks/{task.id.hex}:cancel", {}),
        "submit": ("tasks", a_submit(task.queue)),
    }[verb]
    before = every_row()

    answer = Caller(a_token(task.queue)).post(path, body, key=key)

    assert answer.refusal == (400, "INVALID_ARGUMENT", "Idempotency-Key")
    assert every_row() == before


def test_query_parameters_that_nobody_knows_are_refused_everywhere():
    caller, calls = writes()
    before = every_row()

    for path, (body, _) in calls.items():
        answer = caller.post(f"{path}?preview2=1", body)
        assert answer.refusal == (400, "INVALID_ARGUMENT", "preview2"), path
    for path in ("tasks", "events", f"tasks/{'1' * 32}"):
        answer = caller.get(path, {"colour": "red"})
        assert answer.refusal == (400, "INVALID_ARGUMENT", "colour"), path

    assert every_row() == before


def test_each_call_has_an_id_of_its_own_a_replay_too():
    task = a_task(state="NEEDS_REVIEW")
    caller = Caller(a_token(task.queue))

    ids = {
        caller.post(f"tasks/{task.id.hex}:review", a_review(task), key="k").body[
            "request_id"
        ]
        for _ in range(3)
    }

    assert len(ids) == 3
