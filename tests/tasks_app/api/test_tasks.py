"""Submit and list: the rules of a new task, and how tasks are found again."""

import pytest

from tasks_app.models import Task
from tests.builders import a_queue, a_task, a_token, every_row
from tests.tasks_app.api.calls import Caller, a_submit

pytestmark = pytest.mark.django_db

RETRY = {"max_attempts": 1, "attempt_timeout_ms": 10_000}
REFUSED = {
    "queue_id": [None, 1, "", "A" * 32, "1" * 31, "1" * 33, "1" * 32 + "\n"],
    "handler": [None, 1, "", "h" * 201],
    "handler_version": [None, 1, "", "v" * 65],
    "payload_version": [None, 1, "", "v" * 65],
    "payload": ["x" * 262_143],
    "business_key": [None, 1, "", "k" * 513],
    "concurrency_key": [None, 1, "", "k" * 513],
    "priority": [None, -101, 101, 1.5, "1", True],
    "recovery_safety": [None, "SAFE", "replay_safe", True],
    "task_timeout_ms": [None, 0, -1, 2_592_000_001, "60000", 1.5, True, 9_999],
    "available_at": [1, "", "now", "2001-01-01T00:00:00Z", "9000-01-01T00:00:00Z"],
    "start_deadline_at": [1, "", "2001-01-01T00:00:00Z", "9000-01-01T00:00:00Z"],
    "gated": [None, 1, "true"],
    "owner": [None, "x"],
    "owner.kind": [{"kind": "SCHEDULE", "id": "7" * 32}, {"id": "7" * 32}],
    "owner.id": [{"kind": "WORKFLOW", "id": "7"}, {"kind": "WORKFLOW"}],
    "retry": [None, 1, "x", []],
    "retry.max_attempts": [{**RETRY, "max_attempts": n} for n in (0, 101, "1", None)],
    "retry.attempt_timeout_ms": [
        {"max_attempts": 1},
        *({**RETRY, "attempt_timeout_ms": n} for n in (0, -1, 2_592_000_001, "1")),
    ],
    "retry.initial_delay_ms": [{**RETRY, "initial_delay_ms": n} for n in (-1, None)],
    "retry.max_delay_ms": [
        {**RETRY, "max_delay_ms": -1},
        {**RETRY, "initial_delay_ms": 5, "max_delay_ms": 4},
    ],
    "retry.backoff": [{**RETRY, "backoff": 2}],
    "Handler": ["x"],
    "retry_of": ["1" * 32],
    "state": ["SUCCEEDED"],
}


@pytest.mark.parametrize("field", REFUSED)
def test_a_member_that_breaks_a_rule_is_named_and_nothing_is_accepted(field):
    queue = a_queue()
    caller = Caller(a_token(queue))
    before = every_row()

    for value in REFUSED[field]:
        member = field.partition(".")[0]
        answer = caller.post("tasks", a_submit(queue, **{member: value}))
        assert answer.refusal == (400, "INVALID_ARGUMENT", field), value

    assert every_row() == before


@pytest.mark.parametrize(
    "member", ["queue_id", "handler", "payload", "retry", "task_timeout_ms"]
)
def test_a_missing_member_is_named(member):
    queue = a_queue()
    body = a_submit(queue)
    del body[member]

    answer = Caller(a_token(queue)).post("tasks", body)

    assert answer.refusal == (400, "INVALID_ARGUMENT", member)


@pytest.mark.parametrize(
    "members",
    [
        {"handler": "😀" * 200, "handler_version": "v" * 64},
        {"business_key": "😀" * 512, "concurrency_key": "k" * 512},
        {"priority": -100},
        {"priority": 100},
        {"payload": None},
        {"payload": []},
        {"task_timeout_ms": 2_592_000_000},
        {"task_timeout_ms": 10_000},
        {"retry": {"attempt_timeout_ms": 1}},
        {"retry": {**RETRY, "max_attempts": 100, "max_delay_ms": 2_592_000_000}},
        {"recovery_safety": "REPLAY_SAFE"},
        {"available_at": None, "start_deadline_at": None},
    ],
    ids=",".join,
)
def test_a_member_at_the_edge_of_its_rule_is_accepted_and_shown(members):
    queue = a_queue()

    answer = Caller(a_token(queue)).post("tasks", a_submit(queue, **members))

    task = answer.data["task"]
    assert answer.status == 201
    for name, value in members.items():
        if name == "retry":
            assert task[name].items() >= value.items()
        elif name in task:
            assert task[name] == value or value is None


def test_a_list_shows_newest_first_and_each_task_once():
    queue = a_queue()
    tasks = [a_task(queue=queue) for _ in range(5)]
    Task.objects.update(created_at=tasks[0].created_at)
    caller = Caller(a_token(queue))
    seen, query = [], {"limit": 2}

    while True:
        data = caller.get("tasks", query).data
        seen += [item["id"] for item in data["items"]]
        if "next_cursor" not in data:
            break
        query["cursor"] = data["next_cursor"]
        a_task(queue=queue)

    assert seen == sorted((task.id.hex for task in tasks), reverse=True)


def test_a_list_is_narrowed_by_each_filter():
    queue = a_queue()
    other = a_queue(application=queue.application)
    done = a_task(queue=queue, state="FAILED", handler="h1", business_key="b1")
    waiting = a_task(queue=queue, handler="h2")
    elsewhere = a_task(queue=other, handler="h1")
    caller = Caller(a_token(queue, other))
    moment = waiting.created_at.isoformat().replace("+00:00", "Z")

    def found(**query):
        return [item["id"] for item in caller.get("tasks", query).data["items"]]

    assert found() == [elsewhere.id.hex, waiting.id.hex, done.id.hex]
    assert found(state="FAILED") == [done.id.hex]
    assert found(state="FAILED,WAITING") == found()
    assert found(queue_id=other.id.hex) == [elsewhere.id.hex]
    assert found(handler="h1") == [elsewhere.id.hex, done.id.hex]
    assert found(business_key="b1") == [done.id.hex]
    assert found(created_from=moment) == [elsewhere.id.hex, waiting.id.hex]
    assert found(created_before=moment) == [done.id.hex]
    assert found(queue_id=a_queue().id.hex) == []


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("state=DONE", "state"),
        ("state=", "state"),
        ("state=FAILED,", "state"),
        ("queue_id=x", "queue_id"),
        ("created_from=yesterday", "created_from"),
        ("created_before=2026-01-01", "created_before"),
        ("limit=101", "limit"),
        ("cursor=x", "cursor"),
        ("handler=a&handler=b", "handler"),
        ("handler=%00", "handler"),
        ("sort=name", "sort"),
    ],
)
def test_a_filter_that_makes_no_sense_is_refused(query, field):
    answer = Caller(a_token(a_queue())).get(f"tasks?{query}")

    assert answer.refusal == (400, "INVALID_ARGUMENT", field)
