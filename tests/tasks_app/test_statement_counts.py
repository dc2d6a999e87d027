"""Round trips to the database, counted with authentication; lists stay lean."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tasks_app.models import OperationAudit, Task
from tests.builders import a_lease, a_queue, a_task, a_token, reported, reviewed
from tests.tasks_app.api.calls import (
    Caller,
    a_claim,
    a_retry,
    a_review,
    a_submit,
)

pytestmark = pytest.mark.django_db

# Savepoints stand for BEGIN and COMMIT, since the test has its own transaction.
BRACKETS = ("SAVEPOINT", "RELEASE SAVEPOINT", "BEGIN", "COMMIT")


def a_caller(queue):
    """A caller whose use was recorded a moment ago."""
    caller = Caller(a_token(queue))
    caller.get("tasks")
    return caller


def statements(call):
    """What was sent while `call` was made, without the brackets of transactions."""
    with CaptureQueriesContext(connection) as captured:
        answer = call()
    assert answer.status < 300, answer.text
    sent = [query["sql"] for query in captured]
    return [sql for sql in sent if not sql.lstrip().startswith(BRACKETS)]


def transactions(call):
    """How many transactions `call` took."""
    with CaptureQueriesContext(connection) as captured:
        call()
    return sum(query["sql"].startswith("SAVEPOINT") for query in captured)


def test_submit_costs_three():
    queue = a_queue()
    caller = a_caller(queue)

    # Token, queue with receipts, acceptance.
    assert len(statements(lambda: caller.post("tasks", a_submit(queue)))) == 3
    assert transactions(lambda: caller.post("tasks", a_submit(queue))) == 1


def test_a_batch_of_any_size_costs_as_much_as_one():
    queue = a_queue()
    caller = a_caller(queue)
    entries = [a_submit(queue, idempotency_key=f"k{n}") for n in range(200)]

    def batch():
        return caller.post("tasks:batch", {"tasks": entries}, key=None)

    assert len(statements(batch)) == 3
    # Token, queue with receipts, the tasks of the receipts.
    assert len(statements(batch)) == 3


def test_claim_costs_four_and_with_limits_seven():
    free = a_queue()
    limited = a_queue(max_concurrency=50, key_concurrency=1, rate_per_second=1_000.0)
    counts = []
    for queue in (free, limited):
        caller = a_caller(queue)
        for _ in range(20):
            a_task(queue=queue)
        with connection.cursor() as cursor:
            cursor.execute(
                "UPDATE tasks_queue_throttle"
                " SET refilled_at = refilled_at - interval '9 s'"
            )
        path = f"queues/{queue.id.hex}:claim"
        counts.append(
            len(statements(lambda c=caller, p=path: c.post(p, a_claim(), key=None)))
        )

    # Token, gate, candidates, start; and throttle, holders, spend.
    assert counts == [4, 7]


def test_heartbeat_costs_two():
    lease = a_lease()
    queue = type(a_queue()).objects.get(id=lease.task.queue_id)
    caller = a_caller(queue)
    path = f"attempts/{lease.attempt_id.hex}:heartbeat"
    body = {"lease_token": lease.lease_token}

    # Token, renewal.
    assert len(statements(lambda: caller.post(path, body, key=None))) == 2


@pytest.mark.parametrize("count", [1, 50])
def test_reports_cost_three_together(count):
    queue = a_queue()
    caller = a_caller(queue)
    for _ in range(count):
        a_task(queue=queue)
    leases = caller.post(f"queues/{queue.id.hex}:claim", a_claim()).data["assignments"]
    reports = [
        {
            "attempt_id": lease["attempt_id"],
            "kind": "succeed",
            "lease_token": lease["lease_token"],
            "result": {"n": 1},
        }
        for lease in leases
    ]
    assert len(reports) == count

    # Token, lock, move.
    sent = statements(lambda: caller.post("attempts:report", {"reports": reports}))
    assert len(sent) == 3


def test_one_report_costs_three():
    lease = a_lease()
    queue = type(a_queue()).objects.get(id=lease.task.queue_id)
    caller = a_caller(queue)
    body = {"lease_token": lease.lease_token, "result": 1}

    sent = statements(
        lambda: caller.post(f"attempts/{lease.attempt_id.hex}:succeed", body)
    )

    assert len(sent) == 3


@pytest.mark.parametrize(
    ("verb", "maker", "state"),
    [
        ("review", a_review, "NEEDS_REVIEW"),
        ("retry", a_retry, "FAILED"),
        ("cancel", lambda _task: {}, "WAITING"),
        ("cancel", lambda _task: {}, "RUNNING"),
    ],
)
def test_an_operators_write_costs_four_and_its_replay_too(verb, maker, state):
    task = a_task(state=state)
    caller = a_caller(task.queue)
    path, body = f"tasks/{task.id.hex}:{verb}", maker(task)

    def write():
        return caller.post(path, body, key="k")

    # Token, lock, facts with receipt, write; on replay the task instead.
    assert len(statements(write)) == 4
    assert len(statements(write)) == 4


@pytest.mark.parametrize("rows", [1, 50])
def test_reads_cost_the_same_for_many_rows(rows):
    queue = a_queue()
    caller = a_caller(queue)
    tasks = [a_task(queue=queue) for _ in range(rows)]
    path = f"tasks/{tasks[0].id.hex}"
    audit = OperationAudit.objects.get(task_id=tasks[0].id)

    def cost(path, **query):
        return len(statements(lambda: caller.get(path, query)))

    assert cost("tasks", limit=100) == 2
    assert cost(path) == 2
    assert cost(f"{path}/operations") == 3
    assert cost(f"{path}/operations/{audit.id.hex}") == 3
    assert cost(f"{path}/attempts") == 4
    assert cost("events") == 2


@pytest.mark.parametrize("rows", [1, 30])
def test_a_dossier_costs_the_same_however_long_its_lists_are(rows):
    queue = a_queue()
    caller = a_caller(queue)
    lease = a_lease(queue=queue)
    reported(lease, "unknown")
    task = Task.objects.get(id=lease.task.id)
    for number in range(rows):
        reported(lease, "succeed", result=str(number))
    path = f"tasks/{task.id.hex}"

    # Token, task with grounds, attempts, permits, evidence, contradictions, events,
    # operations, lineage.
    assert len(statements(lambda: caller.get(f"{path}/dossier"))) == 9
    assert len(statements(lambda: caller.get(f"{path}/lineage"))) == 2
    assert len(statements(lambda: caller.get("contradictions"))) == 2


@pytest.mark.parametrize(
    ("verb", "maker", "state"),
    [("review", a_review, "NEEDS_REVIEW"), ("retry", a_retry, "FAILED")],
)
def test_a_preview_costs_three_and_no_transaction(verb, maker, state):
    task = a_task(state=state)
    caller = a_caller(task.queue)
    path, body = f"tasks/{task.id.hex}:preview-{verb}", maker(task)

    # Token, task with facts, room.
    assert len(statements(lambda: caller.post(path, body, key=None))) == 3
    assert transactions(lambda: caller.post(path, body, key=None)) == 0


def test_a_review_of_a_dossier_costs_one_more():
    task = a_task(state="NEEDS_REVIEW")
    caller = a_caller(task.queue)
    path = f"tasks/{task.id.hex}"
    digest = caller.get(f"{path}/dossier").data["dossier_digest"]
    body = a_review(task, expected_dossier_digest=digest)

    # Token, lock, facts with receipt, grounds, write.
    assert len(statements(lambda: caller.post(f"{path}:review", body))) == 5


def test_a_late_report_costs_three_and_four_when_it_contradicts():
    lease = a_lease()
    reported(lease, "unknown")
    task = Task.objects.get(id=lease.task.id)
    caller = a_caller(task.queue)

    def late(result):
        body = {"lease_token": lease.lease_token, "result": result}
        path = f"attempts/{lease.attempt_id.hex}:succeed"
        with CaptureQueriesContext(connection) as captured:
            assert caller.post(path, body, key=None).status == 409
        return sum(not it["sql"].lstrip().startswith(BRACKETS) for it in captured)

    # Token, lock, evidence; and the contradiction with its event.
    assert late(1) == 3
    reviewed(task)
    assert late(2) == 4


@pytest.mark.parametrize("operation", ["task.submit", "task.review"])
def test_a_look_up_of_a_receipt_costs_three(operation):
    task = a_task()
    caller = a_caller(task.queue)
    target = task.queue if operation == "task.submit" else task
    body = {"operation": operation, "target_id": target.id.hex}

    # Token, target, receipt.
    assert len(statements(lambda: caller.post("receipts:look-up", body))) == 3


@pytest.mark.parametrize(
    "query", [{}, {"state": "WAITING,FAILED"}, {"handler": "x"}, {"business_key": "x"}]
)
def test_a_list_of_tasks_never_reads_payload_or_result(query):
    queue = a_queue()
    caller = a_caller(queue)
    a_task(queue=queue, payload='"' + "x" * 1_000 + '"')

    _token, sql = statements(lambda: caller.get("tasks", query))

    assert '"payload"' not in sql
    assert '"result"' not in sql
    assert '"retry_of"' not in sql


def test_a_list_of_operations_never_reads_reasons_or_pictures():
    task = a_task()
    caller = a_caller(task.queue)

    *_, sql = statements(lambda: caller.get(f"tasks/{task.id.hex}/operations"))

    for column in ("reason", "evidence_ref", "before", "after"):
        assert f'"{column}"' not in sql
