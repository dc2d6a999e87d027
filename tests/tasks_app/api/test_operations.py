"""The operations of a task: order, pages, cursors, and one in full."""

import pytest
from django.db import connection

from orbit.http.paging import Cursor
from tasks_app.models import OperationAudit
from tests.builders import a_lease, a_queue, a_task, a_token, reported
from tests.tasks_app.api.calls import Caller, a_retry

pytestmark = pytest.mark.django_db


def add_operations(task, count, *, ago="1 hour"):
    """Audit rows that share one moment."""
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO tasks_operation_audit (id, namespace_id, task_id,"
            " operation_id, actor_id, actor_kind, action, revision, after, created_at,"
            " sequence, previous_hash, entry_hash)"
            " SELECT gen_random_uuid(), %s, %s, gen_random_uuid(), gen_random_uuid(),"
            " 'TOKEN', 'task.test', 1, '{}',"
            " date_trunc('hour', now()) + interval '7 microseconds' - %s::interval,"
            " n + (SELECT max(sequence) FROM tasks_operation_audit WHERE task_id = %s),"
            " '', '' FROM generate_series(1, %s) n",
            [task.namespace_id, task.id, ago, task.id, count],
        )


@pytest.mark.parametrize("limit", [1, 20, 100])
def test_rows_of_one_moment_are_each_shown_once_though_others_arrive(limit):
    task = a_task()
    caller = Caller(a_token(task.queue))
    add_operations(task, 250)
    there = {row.hex for row in OperationAudit.objects.values_list("id", flat=True)}
    path = f"tasks/{task.id.hex}/operations"
    seen, moments, query = [], [], {"limit": limit}

    while True:
        data = caller.get(path, query).data
        assert len(data["items"]) <= limit
        seen += [item["id"] for item in data["items"]]
        moments += [(item["created_at"], item["id"]) for item in data["items"]]
        if len(seen) in {limit, 100}:
            add_operations(task, 1, ago="0 hours")
        if "next_cursor" not in data:
            break
        query["cursor"] = data["next_cursor"]

    assert len(seen) == len(set(seen))
    assert there <= set(seen)
    assert moments == sorted(moments, reverse=True)
    assert sum(moment.endswith(".000007Z") for moment, _ in moments) >= 250


def test_the_default_page_has_twenty_and_says_when_there_is_more():
    task = a_task()
    caller = Caller(a_token(task.queue))
    path = f"tasks/{task.id.hex}/operations"
    add_operations(task, 19)

    assert len(caller.get(path).data["items"]) == 20
    assert "next_cursor" not in caller.get(path).data
    add_operations(task, 1)
    assert len(caller.get(path).data["items"]) == 20
    assert "next_cursor" in caller.get(path).data


def test_a_summary_has_neither_reason_nor_pictures():
    task = a_task(state="FAILED")
    caller = Caller(a_token(task.queue))
    caller.post(f"tasks/{task.id.hex}:retry", a_retry(task))

    items = caller.get(f"tasks/{task.id.hex}/operations").data["items"]

    assert [item["action"] for item in items] == [
        *("task.retry", "task.fail", "task.start", "task.accept")
    ]
    for item in items:
        assert set(item) == {
            *("id", "task_id", "operation_id", "actor_id", "action", "created_at")
        }


def test_no_operation_shows_payload_lease_or_credential():
    lease = a_lease(payload='{"secret":"p4yl04d"}')
    reported(lease, "succeed", result='"r3sult"')
    task = a_task(queue=type(a_queue()).objects.get(id=lease.task.queue_id))
    token = a_token(task.queue)
    caller = Caller(token)
    path = f"tasks/{lease.task.id.hex}/operations"

    for item in caller.get(path).data["items"]:
        text = caller.get(f"{path}/{item['id']}").text
        for secret in (b"p4yl04d", b"r3sult", lease.lease_token.encode()):
            assert secret not in text
        assert token.plaintext.encode() not in text


@pytest.mark.parametrize(
    "query",
    [
        "limit=0",
        "limit=101",
        "limit=-1",
        "limit=1.0",
        "limit=",
        "limit=x",
        "limit=%D9%A1",
        "limit=1&limit=1",
        "limit=+1",
        "cursor=",
        "cursor=x",
        f"cursor={'x' * 1024}",
        f"cursor={'x' * 1025}",
        "cursor=a&cursor=a",
        "cursor=%00",
        "action=task.retry",
        "Limit=1",
        "limit[]=1",
    ],
)
def test_a_query_that_is_not_exactly_right_is_refused(query):
    task = a_task()

    answer = Caller(a_token(task.queue)).get(f"tasks/{task.id.hex}/operations?{query}")

    field = query.partition("=")[0]
    assert answer.refusal == (400, "INVALID_ARGUMENT", field)


def test_a_cursor_is_good_for_its_own_list_only():
    task, other = a_task(), a_task()
    caller = Caller(a_token(task.queue))
    add_operations(task, 3)
    path = f"tasks/{task.id.hex}/operations"
    cursor = caller.get(path, {"limit": 1}).data["next_cursor"]
    position = (task.created_at, task.id)
    forged = {
        "tampered": cursor[:-1] + ("A" if cursor[-1] != "A" else "B"),
        "tampered in front": "A" + cursor[1:],
        "other task": Cursor(task.namespace_id, other.id, "task.operations"),
        "other namespace": Cursor(other.namespace_id, task.id, "task.operations"),
        "other kind": Cursor(task.namespace_id, task.id, "task.attempts"),
    }

    for name, wrong in forged.items():
        text = wrong if isinstance(wrong, str) else wrong.sign(position)
        answer = caller.get(path, {"cursor": text})
        assert answer.refusal == (400, "INVALID_ARGUMENT", "cursor"), name
    assert caller.get(path, {"cursor": cursor}).status == 200
    assert caller.get("tasks", {"cursor": cursor}).status == 400
    assert caller.get("events", {"cursor": cursor}).status == 400


def test_an_operation_of_another_task_is_not_there():
    queue = a_queue()
    task, other = a_task(queue=queue), a_task(queue=queue)
    audit = OperationAudit.objects.get(task_id=other.id)
    caller = Caller(a_token(queue))

    wrong = caller.get(f"tasks/{task.id.hex}/operations/{audit.id.hex}")
    right = caller.get(f"tasks/{other.id.hex}/operations/{audit.id.hex}")
    missing = caller.get(f"tasks/{task.id.hex}/operations/{'1' * 32}")

    assert wrong.refusal[:2] == (404, "NOT_FOUND")
    assert wrong.error == missing.error
    assert right.data["task_id"] == other.id.hex
    assert set(right.data) >= {"after", "action"}
