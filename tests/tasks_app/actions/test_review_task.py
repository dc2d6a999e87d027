"""The review: a person settles what nobody knew."""

import json
from contextlib import contextmanager

import msgspec
import pytest

from orbit.http.exact_json import digest
from orbit.ids import new_id
from orbit.outbox.models import ResultEvent
from tasks_app.actions.review_task import review_task
from tasks_app.api.shapes import task_shape
from tasks_app.domain import ownership
from tasks_app.domain.access import Reach
from tasks_app.domain.commands import MAX_RESULT_BYTES, ReviewTask
from tasks_app.domain.errors import (
    IdempotencyConflict,
    InvalidField,
    StateConflict,
    TaskNotFound,
)
from tasks_app.models import Attempt, OperationAudit, Permit, Task
from tasks_app.public import OwnerKind, register_owner_policy
from tests.builders import (
    OPERATOR,
    a_lease,
    a_queue,
    a_task,
    an_identity,
    every_row,
    reported,
    reviewed,
    room_of,
    row_of,
)

pytestmark = pytest.mark.django_db


class Jobs:
    """An owner of tasks, as the scheduler is one."""

    def __init__(self, *, refusal=None, fault=None):
        self.refusal, self.fault = refusal, fault
        self.asked, self.locked, self.settled = [], [], []

    def refuse_review(self, *, task_id, owner_id):
        self.asked.append((task_id, owner_id))
        return self.refusal

    def refuse_retry(self, *, task_id, owner_id):
        self.asked.append((task_id, owner_id))
        return "A job's task is not retried directly."

    def before_settling(self, owner_ids):
        assert not self.settled
        self.locked += owner_ids

    def on_settled(self, settled):
        self.settled += [(it.task_id, it.owner_id, it.state) for it in settled]
        if self.fault:
            raise self.fault


@contextmanager
def owned_by(policy):
    """Let `policy` speak for tasks of scheduled jobs."""
    before = dict(ownership._policies)
    register_owner_policy(OwnerKind.SCHEDULE, policy)
    try:
        yield policy
    finally:
        ownership._policies.clear()
        ownership._policies.update(before)


def refused(task, **changes):
    """The conflict of a review that must leave no trace."""
    before = every_row()
    with pytest.raises(StateConflict) as conflict:
        reviewed(task, **changes)
    assert every_row() == before
    return conflict.value


@pytest.mark.parametrize("outcome", ["SUCCEEDED", "FAILED"])
def test_a_review_settles_the_task_and_releases_its_quota_once(outcome):
    queue = a_queue(max_outstanding=10)
    task = a_task(queue=queue, state="NEEDS_REVIEW")
    assert room_of(queue.id) == 9

    answer = reviewed(task, outcome=outcome, result=msgspec.Raw(b'{"n":1.10}'))

    stored = row_of(task.id)
    assert not answer.deduplicated
    assert (stored["state"], stored["revision"]) == (outcome, task.revision + 1)
    assert stored["result"] == '{"n":1.10}'
    assert not stored["effect_uncertain"]
    assert stored["completed_at"] == stored["updated_at"]
    assert stored["attempt_count"] == task.attempt_count
    assert room_of(queue.id) == 10
    assert room_of(queue.application_id) == 1_000_000
    for name, value in answer.task._asdict().items():
        assert stored[name] == value, name


def test_the_audit_says_who_why_and_what_changed():
    task = a_task(state="NEEDS_REVIEW")

    answer = reviewed(task, result=msgspec.Raw(b'{"b":1.10, "a":2}'))

    audit = OperationAudit.objects.get(id=answer.audit_id)
    assert (audit.action, audit.actor_id, audit.actor_kind) == (
        "task.review",
        OPERATOR.id,
        "TOKEN",
    )
    assert (audit.reason, audit.evidence_ref) == ("looked it up", "evidence:1")
    assert json.loads(audit.before) == {"state": "NEEDS_REVIEW", "revision": "3"}
    assert json.loads(audit.after) == {
        "state": "FAILED",
        "revision": "4",
        "effect_uncertain": False,
        "execution_settled": True,
        "result_digest": digest('{"a":2,"b":1.10}'),
    }


def test_attempts_and_the_earlier_event_stay_as_they_were():
    task = a_task(state="NEEDS_REVIEW")
    attempts = list(Attempt.objects.values())
    frozen = ResultEvent.objects.get(kind="task.needs_review")

    answer = reviewed(task)

    assert list(Attempt.objects.values()) == attempts
    assert attempts[0]["outcome"] == "UNKNOWN"
    again = ResultEvent.objects.get(id=frozen.id)
    assert again.payload == frozen.payload
    final = ResultEvent.objects.get(revision=4)
    assert (final.kind, final.id > frozen.id) == ("task.failed", True)
    assert json.loads(final.payload)["audit_id"] == answer.audit_id.hex
    assert final.revision > frozen.revision


@pytest.mark.parametrize(
    "state", ["WAITING", "RUNNING", "SUCCEEDED", "FAILED", "CANCELLED"]
)
def test_only_what_needs_review_can_be_reviewed(state):
    task = a_task(state=state)

    conflict = refused(task)

    assert conflict.details["reason"] == "STATE"
    assert conflict.details["state"] == state
    assert conflict.details["revision"] == str(task.revision)


def test_a_decision_on_an_older_picture_is_refused():
    task = a_task(state="NEEDS_REVIEW")

    for revision in ("1", "2", "4", "999999999999999999"):
        conflict = refused(task, expected_revision=revision)
        assert conflict.details["reason"] == "REVISION"
        assert conflict.details["revision"] == "3"


def test_the_second_of_two_reviewers_learns_who_won_and_when():
    task = a_task(state="NEEDS_REVIEW")
    won = reviewed(task)

    conflict = refused(task, outcome="SUCCEEDED")

    assert conflict.details["state"] == "FAILED"
    assert conflict.details["audit_id"] == won.audit_id
    assert conflict.details["settled_at"] == won.task.updated_at


def test_the_same_key_gets_its_receipt_whatever_the_task_is_now():
    task = a_task(state="NEEDS_REVIEW")
    identity = an_identity()
    first = reviewed(task, identity=identity)
    before = every_row()

    again = reviewed(task, identity=identity)

    assert again.deduplicated
    assert task_shape(again.task) == task_shape(first.task)
    assert again.audit_id == first.audit_id
    assert every_row() == before


def test_the_same_key_with_other_content_is_refused():
    task = a_task(state="NEEDS_REVIEW")
    reviewed(task, identity=an_identity(key="k", content=b"1"))
    before = every_row()

    with pytest.raises(IdempotencyConflict):
        reviewed(task, identity=an_identity(key="k", content=b"2"))
    assert every_row() == before


def test_a_refused_review_leaves_its_key_unused():
    lease = a_lease()
    task = Task.objects.get(id=lease.task.id)
    identity = an_identity()
    refused(task, identity=identity)
    reported(lease, "unknown")

    answer = reviewed(Task.objects.get(id=task.id), identity=identity)

    assert not answer.deduplicated


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"reason": " \u3000"}, "reason"),
        ({"evidence_ref": "a b"}, "evidence_ref"),
        ({"execution_settled": False}, "execution_settled"),
        ({"result": msgspec.Raw(b"null")}, "result"),
        ({"result": msgspec.Raw(b'"' + b"x" * MAX_RESULT_BYTES + b'"')}, "result"),
    ],
)
def test_a_broken_rule_names_its_field_before_anything_is_touched(changes, field):
    task = a_task(state="NEEDS_REVIEW")
    before = every_row()

    with pytest.raises(InvalidField) as invalid:
        reviewed(task, **changes)

    assert invalid.value.field == field
    assert every_row() == before


@pytest.mark.parametrize("owner", ["WORKFLOW", "SCHEDULE"])
def test_an_owner_that_nobody_speaks_for_refuses(owner):
    task = a_task(state="NEEDS_REVIEW", owner=owner)
    before = dict(ownership._policies)
    ownership._policies.pop(OwnerKind.SCHEDULE, None)

    try:
        assert refused(task).details["reason"] == "OWNER"
    finally:
        ownership._policies.update(before)


def test_a_gated_task_is_refused():
    task = a_task(state="NEEDS_REVIEW")
    Task.objects.update(is_gated=True)

    assert refused(task).details["reason"] == "GATE"


def test_a_permit_that_is_not_released_is_in_the_way():
    lease = a_lease(queue=a_queue(max_concurrency=1))
    permit = Permit.objects.get()
    reported(lease, "unknown")
    Permit.objects.bulk_create([permit])

    task = Task.objects.get(id=lease.task.id)
    assert refused(task).details["reason"] == "PERMIT"


def test_an_active_attempt_is_in_the_way():
    lease = a_lease()
    reported(lease, "unknown")
    Attempt.objects.update(outcome="ACTIVE", ended_at=None)

    task = Task.objects.get(id=lease.task.id)
    assert refused(task).details["reason"] == "LEASE"


def test_a_jobs_task_is_reviewed_when_its_owner_agrees_and_is_told_once():
    task = a_task(state="NEEDS_REVIEW", owner="SCHEDULE")
    identity = an_identity()

    with owned_by(Jobs()) as jobs:
        answer = reviewed(task, identity=identity)
        assert reviewed(task, identity=identity).deduplicated

    assert jobs.asked == [(task.id, task.owner_id)]
    assert jobs.locked == [task.owner_id]
    assert jobs.settled == [(task.id, task.owner_id, "FAILED")]
    assert answer.task.state == "FAILED"


def test_a_jobs_task_is_refused_when_its_owner_does_not_agree():
    task = a_task(state="NEEDS_REVIEW", owner="SCHEDULE")

    with owned_by(Jobs(refusal="The execution is another's.")) as jobs:
        conflict = refused(task)

    assert conflict.details["reason"] == "OWNER"
    assert conflict.message == "The execution is another's."
    assert jobs.settled == []


def test_when_the_owner_cannot_go_on_nothing_happened():
    task = a_task(state="NEEDS_REVIEW", owner="SCHEDULE")
    before = every_row()

    with (
        owned_by(Jobs(fault=ZeroDivisionError())),
        pytest.raises(ZeroDivisionError),
    ):
        reviewed(task)

    assert every_row() == before
    with owned_by(Jobs()) as jobs:
        reviewed(task)
    assert len(jobs.settled) == 1


def test_the_owner_of_a_standalone_task_is_nobody():
    with owned_by(Jobs()) as jobs:
        reviewed(a_task(state="NEEDS_REVIEW"))

    assert jobs.settled == []


@pytest.mark.parametrize("foreign", ["namespace", "range", "no such task"])
def test_a_task_out_of_reach_is_like_none(foreign):
    task = a_task(state="NEEDS_REVIEW")
    reaches = {
        "namespace": Reach(namespace_id=new_id(), queue_ids=(task.queue_id,)),
        "range": Reach(namespace_id=task.namespace_id, queue_ids=(new_id(),)),
        "no such task": Reach(namespace_id=task.namespace_id, queue_ids=None),
    }
    command = ReviewTask(
        expected_revision="3",
        reason="r",
        evidence_ref="e",
        execution_settled=True,
        outcome="FAILED",
        result=msgspec.Raw(b"1"),
    )
    before = every_row()

    with pytest.raises(TaskNotFound):
        review_task(
            command,
            task_id=new_id() if foreign == "no such task" else task.id,
            identity=an_identity(),
            actor=OPERATOR,
            reach=reaches[foreign],
        )

    assert every_row() == before
