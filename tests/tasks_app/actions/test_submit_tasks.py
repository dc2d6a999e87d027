"""The acceptance of tasks: what is written, and what a refusal leaves behind."""

import hashlib
import json
from datetime import timedelta

import pytest

from orbit.ids import new_id
from orbit.outbox.models import ResultEvent
from tasks_app.actions.submit_tasks import submit_tasks
from tasks_app.domain.access import Reach
from tasks_app.domain.commands import MAX_PAYLOAD_BYTES
from tasks_app.domain.errors import (
    ApplicationDisabled,
    ApplicationFull,
    IdempotencyConflict,
    InvalidField,
    QueueFull,
    QueueNotFound,
)
from tasks_app.models import Application, OperationAudit, Receipt, Task
from tests.builders import (
    SUBMITTER,
    a_lease,
    a_queue,
    a_submission,
    a_task,
    again,
    an_application,
    an_identity,
    cancelled,
    claimed,
    every_row,
    moment_in,
    reported,
    room_of,
    row_of,
    submitted,
)

pytestmark = pytest.mark.django_db


def test_an_accepted_task_waits_with_receipt_audit_and_event():
    queue = a_queue(max_outstanding=10)
    identity = an_identity(key="k1", content=b'{"a":1}')
    submission = a_submission(
        queue,
        identity=identity,
        business_key="order:1",
        concurrency_key="account:7",
        priority=5,
        payload='{"n":1.10}',
    )

    [answer] = submitted(submission, queue=queue)

    task = answer.task
    assert not answer.deduplicated
    stored = row_of(task.id)
    assert {name: stored[name] for name in ("state", "revision", "attempt_count")} == {
        "state": "WAITING",
        "revision": 1,
        "attempt_count": 0,
    }
    assert stored["payload"] == '{"n":1.10}'
    assert (stored["business_key"], stored["concurrency_key"]) == (
        "order:1",
        "account:7",
    )
    assert stored["submitted_by"] == SUBMITTER.id
    assert stored["deadline_at"] - stored["created_at"] == timedelta(minutes=1)
    assert stored["available_at"] == stored["due_at"] == stored["created_at"]
    assert stored["is_due"]
    assert stored["retry_of"] is None

    [audit] = OperationAudit.objects.all()
    assert (audit.task_id, audit.action, audit.actor_id) == (
        task.id,
        "task.accept",
        SUBMITTER.id,
    )
    assert json.loads(audit.after) == {"state": "WAITING", "revision": "1"}
    assert audit.id == answer.audit_id

    [receipt] = Receipt.objects.all()
    assert bytes(receipt.key_digest) == hashlib.sha256(b"k1").digest()
    assert bytes(receipt.content_digest) == hashlib.sha256(b'{"a":1}').digest()

    [event] = ResultEvent.objects.all()
    body = json.loads(event.payload)
    assert (event.kind, event.revision) == ("task.accepted", 1)
    assert body["task_id"] == task.id.hex
    assert body["audit_id"] == audit.id.hex
    assert body["business_key"] == "order:1"
    assert "retry_of" not in body
    assert room_of(queue.id) == 9


def test_what_is_answered_is_what_is_stored():
    queue = a_queue()

    [answer] = submitted(a_submission(queue, business_key="b"), queue=queue)

    stored = row_of(answer.task.id)
    for name, value in answer.task._asdict().items():
        assert stored[name] == value, name


def test_the_same_key_and_content_answers_the_first_task_again():
    queue = a_queue(max_outstanding=1)
    identity = an_identity()
    [first] = submitted(a_submission(queue, identity=identity), queue=queue)
    before = every_row()

    [second] = submitted(a_submission(queue, identity=identity), queue=queue)

    assert second.deduplicated
    assert (second.task, second.audit_id) == (first.task, first.audit_id)
    assert every_row() == before


def test_a_replay_shows_the_task_as_it_was_accepted():
    queue = a_queue()
    identity = an_identity()
    [first] = submitted(a_submission(queue, identity=identity), queue=queue)
    reported(again(first.task.id), "unknown")

    [replay] = submitted(a_submission(queue, identity=identity), queue=queue)

    assert replay.deduplicated
    shown = replay.task
    assert (shown.state, shown.revision, shown.attempt_count) == ("WAITING", 1, 0)
    assert not shown.effect_uncertain
    assert shown.error_code is None
    assert shown.updated_at == first.task.updated_at


def test_a_replay_does_not_show_a_cancel_request_that_came_later():
    queue = a_queue()
    identity = an_identity()
    [first] = submitted(a_submission(queue, identity=identity), queue=queue)
    again(first.task.id)
    cancelled(first.task.id)

    [replay] = submitted(a_submission(queue, identity=identity), queue=queue)

    assert replay.task.cancel_requested_at is None


def test_the_same_key_with_other_content_is_refused_and_leaves_no_trace():
    queue = a_queue()
    submitted(a_submission(queue, identity=an_identity(key="k")), queue=queue)
    before = every_row()

    other = an_identity(key="k", content=b'{"other":1}')
    [answer] = submitted(a_submission(queue, identity=other), queue=queue)

    assert isinstance(answer, IdempotencyConflict)
    assert every_row() == before


def test_a_full_queue_refuses_and_the_key_can_be_used_once_there_is_room():
    queue = a_queue(max_outstanding=1)
    running = a_lease(queue=queue)
    identity = an_identity()
    before = every_row()

    [full] = submitted(a_submission(queue, identity=identity), queue=queue)

    assert isinstance(full, QueueFull)
    assert full.details["retry_after_ms"] > 0
    assert every_row() == before

    reported(running, "succeed")
    [accepted] = submitted(a_submission(queue, identity=identity), queue=queue)
    assert not accepted.deduplicated


def test_a_full_application_refuses_though_its_queue_has_room():
    application = an_application(max_outstanding=1)
    one, other = a_queue(application=application), a_queue(application=application)
    a_task(queue=one)
    before = every_row()

    [full] = submitted(a_submission(other), queue=other)

    assert isinstance(full, ApplicationFull)
    assert every_row() == before


def test_of_a_batch_as_many_are_accepted_as_there_is_room_for():
    queue = a_queue(max_outstanding=3)

    answers = submitted(*(a_submission(queue) for _ in range(5)), queue=queue)

    kinds = [type(answer).__name__ for answer in answers]
    assert kinds == ["Answered"] * 3 + ["QueueFull"] * 2
    assert room_of(queue.id) == 0
    assert Task.objects.count() == Receipt.objects.count() == 3


def test_a_batch_answers_each_entry_in_its_place():
    application = an_application()
    one, other = a_queue(application=application), a_queue(application=application)
    known = an_identity()
    submitted(a_submission(one, identity=known), queue=one)
    twice = an_identity()
    entries = [
        a_submission(one),
        a_submission(other),
        a_submission(one, identity=known),
        a_submission(one, payload='"' + "x" * MAX_PAYLOAD_BYTES + '"'),
        a_submission(one, identity=twice),
        a_submission(one, identity=twice),
        a_submission(one, identity=an_identity(key="c", content=b"1")),
        a_submission(one, identity=an_identity(key="c", content=b"2")),
        a_submission(a_queue()),
    ]

    answers = submit_tasks(
        entries,
        actor=SUBMITTER,
        reach=Reach(
            namespace_id=application.namespace_id, queue_ids=(one.id, other.id)
        ),
    )

    said = [
        type(entry).__name__ if isinstance(entry, Exception) else entry.deduplicated
        for entry in answers
    ]
    assert said == [
        False,
        False,
        True,
        "InvalidField",
        False,
        True,
        False,
        "IdempotencyConflict",
        "QueueNotFound",
    ]
    assert answers[4].task.id == answers[5].task.id
    assert answers[1].task.queue_id == other.id
    assert Task.objects.count() == 5
    assert room_of(application.id) == application.max_outstanding - 5


def test_a_key_counts_for_its_application():
    one, other = a_queue(), a_queue()
    mine, theirs = (
        submitted(a_submission(queue, identity=an_identity(key="k")), queue=queue)[0]
        for queue in (one, other)
    )

    assert not mine.deduplicated
    assert not theirs.deduplicated
    assert mine.task.id != theirs.task.id


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"initial_delay_ms": 5, "max_delay_ms": 4}, "retry.max_delay_ms"),
        ({"task_timeout_ms": 9_999}, "task_timeout_ms"),
        ({"available_at": "2001-01-01T00:00:00Z"}, "available_at"),
        ({"available_at": "yesterday"}, "available_at"),
        ({"start_deadline_at": "2001-01-01T00:00:00Z"}, "start_deadline_at"),
        ({"payload": "[" + "1," * 131_072 + "1]"}, "payload"),
    ],
)
def test_a_broken_rule_names_its_field_and_touches_nothing(changes, field):
    queue = a_queue()
    before = every_row()

    [answer] = submitted(a_submission(queue, **changes), queue=queue)

    assert isinstance(answer, InvalidField)
    assert answer.field == field
    assert every_row() == before


def test_a_payload_of_exactly_the_limit_is_accepted():
    queue = a_queue()
    payload = '"' + "x" * (MAX_PAYLOAD_BYTES - 2) + '"'

    [answer] = submitted(a_submission(queue, payload=payload), queue=queue)

    assert row_of(answer.task.id)["payload"] == payload


def test_a_task_for_later_is_not_due_yet():
    queue = a_queue()

    [answer] = submitted(
        a_submission(
            queue, available_at="9000-01-01T00:00:00Z", task_timeout_ms=2_592_000_000
        ),
        queue=queue,
    )
    assert isinstance(answer, InvalidField)

    soon = moment_in(seconds=30)
    [answer] = submitted(a_submission(queue, available_at=soon), queue=queue)
    assert not row_of(answer.task.id)["is_due"]
    assert claimed(queue) == []


def test_a_disabled_application_accepts_nothing_and_consumes_no_key():
    queue = a_queue()
    identity = an_identity()
    Application.objects.update(is_enabled=False)
    [refused] = submitted(a_submission(queue, identity=identity), queue=queue)
    assert isinstance(refused, ApplicationDisabled)

    Application.objects.update(is_enabled=True)
    [accepted] = submitted(a_submission(queue, identity=identity), queue=queue)
    assert not accepted.deduplicated


@pytest.mark.parametrize("foreign", ["namespace", "range", "nothing"])
def test_a_queue_out_of_reach_is_like_none(foreign):
    queue = a_queue()
    reaches = {
        "namespace": Reach(namespace_id=new_id(), queue_ids=(queue.id,)),
        "range": Reach(namespace_id=queue.namespace_id, queue_ids=(new_id(),)),
        "nothing": Reach(namespace_id=queue.namespace_id, queue_ids=()),
    }
    before = every_row()

    [answer] = submit_tasks(
        [a_submission(queue)], actor=SUBMITTER, reach=reaches[foreign]
    )

    assert isinstance(answer, QueueNotFound)
    assert every_row() == before


def test_an_owned_and_gated_task_says_so():
    task = a_task(owner="WORKFLOW", gated=True)

    assert (task.owner_kind, task.is_gated) == ("WORKFLOW", True)
    assert task.owner_id is not None
    assert claimed(task.queue) == []


def test_numbers_of_the_payload_are_stored_as_written():
    digits = '{"a":9007199254740993,"b":1E400,"c":-0,"d":1.10}'

    task = a_task(payload=digits)

    assert task.payload == digits
