"""Which tasks a batch is for: chosen once, by one moment, and frozen."""

import json
from datetime import timedelta

import msgspec
import pytest
from django.db import Error, connection, transaction

from orbit.errors import Invalid
from orbit.ids import new_id
from tasks_app.actions.create_review_batch import create_review_batch
from tasks_app.domain import batches
from tasks_app.domain.batches import ItemState
from tasks_app.domain.causes import Cause
from tasks_app.domain.errors import (
    InvalidField,
    QueueNotFound,
)
from tasks_app.domain.lifecycle import Failure
from tasks_app.models import (
    OperationAudit,
    ReviewBatch,
    ReviewBatchItem,
    Task,
)
from tasks_app.queries.batches import (
    batch_items,
)
from tasks_app.queries.inbox import InboxFilter, count_inbox, inbox
from tasks_app.subscribers.review_batches import run_review_batches
from tests.builders import (
    a_lease,
    a_queue,
    a_task,
    every_row,
    pass_time,
    reach_of,
    reported,
)
from tests.tasks_app.batches.builders import a_batch, a_draft, actor, counts, uncertain

pytestmark = pytest.mark.django_db


def test_where_a_review_takes_two_people_there_is_no_batch(ada):
    queue = a_queue(second_approver=True)
    uncertain(queue, 2)
    before = every_row()

    with pytest.raises(batches.BatchWantsTwo) as refused:
        a_batch(queue, ada)

    assert refused.value.details == {"reason": "SECOND_APPROVER"}
    assert "one by one" in refused.value.message
    assert every_row() == before


def test_what_comes_later_is_not_a_member(ada):
    queue = a_queue()
    uncertain(queue, 2)
    batch_id = a_batch(queue, ada)
    [later] = [it for it in uncertain(queue, 1) if not _is_member(batch_id, it)]

    run_review_batches(limit=100)

    assert Task.objects.get(id=later.id).state == "NEEDS_REVIEW"
    assert counts(queue, batch_id) == {ItemState.SETTLED: 2}


def _is_member(batch_id, task):
    return ReviewBatchItem.objects.filter(batch_id=batch_id, task_id=task.id).exists()


def test_tasks_by_hand_may_have_evidence_of_their_own(ada):
    queue = a_queue()
    first, second, _ = uncertain(queue, 3)
    chosen = (
        batches.ChosenTask(task_id=first.id.hex, evidence_ref="bank:1"),
        batches.ChosenTask(task_id=second.id.hex),
    )

    batch_id = a_batch(queue, ada, tasks=chosen)
    run_review_batches(limit=100)

    assert counts(queue, batch_id) == {ItemState.SETTLED: 2}
    audits = OperationAudit.objects.filter(action="task.review")
    assert {it.evidence_ref for it in audits} == {"bank:1", "ticket:77"}


@pytest.mark.parametrize(
    ("changes", "members"),
    [
        ({"error_code": "BANK_DOWN"}, {1, 2}),
        ({"error_code": "BANK_DOWN", "handler": "pay"}, {1, 2}),
        ({"error_code": "BANK_DOWN", "min_age_ms": 3_600_000}, {2}),
        ({"max_age_ms": 3_600_000}, {0, 1}),
        ({"min_age_ms": 3_600_000, "max_age_ms": 10_800_000}, {2}),
    ],
)
def test_a_cause_may_be_an_error_and_an_age(ada, changes, members):
    queue = a_queue()
    tasks = [a_task(state="NEEDS_REVIEW", queue=queue, handler="pay")]
    for _ in range(2):
        lease = a_lease(queue=queue, handler="pay")
        reported(lease, "unknown", failure=Failure(code="BANK_DOWN", message="down"))
        tasks.append(Task.objects.get(id=lease.task.id))
    pass_time(tasks[2].id, by=timedelta(hours=2))

    batch_id = a_batch(queue, ada, **changes)

    found = batch_items(batch_id, states=(), after=0, limit=9)
    assert {it.task_id for it in found} == {tasks[number].id for number in members}
    foretold = InboxFilter(queue_id=queue.id, **changes)
    assert count_inbox(foretold).waiting == len(members)
    shown = inbox(foretold, after=None, limit=9)
    assert [it.id for it in shown] == [it.task_id for it in found]


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"reason": " "}, "reason"),
        ({"evidence_ref": "\t"}, "evidence_ref"),
        ({"result": msgspec.Raw(b"null")}, "result"),
        ({"execution_settled": False}, "execution_settled"),
        ({"handler": "nobody"}, "handler"),
        ({"cause": Cause.DEADLINE}, "handler"),
        ({"error_code": "NOBODYS"}, "handler"),
        ({"min_age_ms": 86_400_000}, "handler"),
        ({"min_age_ms": 2, "max_age_ms": 1}, "max_age_ms"),
        ({"canary": 101}, "canary"),
        ({"tasks": (batches.ChosenTask(task_id="a" * 32),)}, "tasks.0.task_id"),
        ({"tasks": (batches.ChosenTask(task_id="a" * 32),) * 2}, "tasks"),
        (
            {"tasks": (batches.ChosenTask(task_id="a" * 32, evidence_ref="a b"),)},
            "tasks.0.evidence_ref",
        ),
    ],
)
def test_what_no_review_would_take_makes_no_batch(ada, changes, field):
    queue = a_queue()
    uncertain(queue, 1)
    before = every_row()
    with pytest.raises((Invalid, InvalidField)) as refused:
        a_batch(queue, ada, **changes)
    assert refused.value.field == field
    assert every_row() == before


def test_more_than_a_batch_may_have_is_refused(ada, monkeypatch):
    queue = a_queue()
    uncertain(queue, 3)
    monkeypatch.setattr("tasks_app.actions.create_review_batch.MAX_ITEMS", 2)
    with pytest.raises(Invalid, match="More than 2 tasks"):
        a_batch(queue, ada)


def test_a_queue_out_of_reach_is_not_found(ada):
    queue, other = a_queue(), a_queue()
    uncertain(queue, 1)
    with pytest.raises(QueueNotFound):
        create_review_batch(
            a_draft(queue),
            form_key=new_id(),
            actor=actor(ada),
            reach=reach_of(other),
        )


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE tasks_review_batch SET outcome = 'SUCCEEDED'",
        "UPDATE tasks_review_batch SET result = '1'",
        "UPDATE tasks_review_batch SET content_digest = ''",
        "UPDATE tasks_review_batch_item SET evidence_count = 9",
        "UPDATE tasks_review_batch_item SET expected_revision = 9",
        "DELETE FROM tasks_review_batch_item",
        "DELETE FROM tasks_review_batch_event",
        "UPDATE tasks_review_batch_event SET verb = 'abort'",
    ],
)
def test_the_decision_and_its_members_are_frozen(ada, statement):
    queue = a_queue()
    uncertain(queue, 1)
    a_batch(queue, ada)
    with (
        pytest.raises(Error, match="refused"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(statement)


def test_the_cause_is_kept(ada):
    queue = a_queue()
    uncertain(queue, 1)
    batch_id = a_batch(queue, ada, handler="pay", min_age_ms=0)
    assert json.loads(ReviewBatch.objects.get(id=batch_id).cause) == {
        "handler": "pay",
        "cause": None,
        "error_code": None,
        "min_age_ms": 0,
        "max_age_ms": None,
        "by_hand": False,
    }
