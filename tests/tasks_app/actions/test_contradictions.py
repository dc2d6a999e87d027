"""Late reports that disagree with an outcome: recorded, told, and nothing more."""

import json

import msgspec
import pytest

from orbit.outbox.models import ResultEvent
from tasks_app.actions.reap_leases import reap_leases
from tasks_app.actions.report_attempts import report_attempts
from tasks_app.models import Contradiction, Evidence, OperationAudit, Task
from tests.builders import (
    BROKEN,
    WORKER,
    a_lease,
    a_report,
    again,
    every_row,
    lose,
    reach_of,
    reported,
    retried,
    reviewed,
    row_of,
)

pytestmark = pytest.mark.django_db


def settled(outcome, *, result=b'{"paid":true}', **changes):
    """The lease of a task whose outcome a person declared."""
    lease = a_lease(**changes)
    reported(lease, "unknown")
    task = Task.objects.get(id=lease.task.id)
    answer = reviewed(task, outcome=outcome, result=msgspec.Raw(result))
    return lease, answer


def contradicted_events(task_id):
    return ResultEvent.objects.filter(task_id=task_id, kind="task.contradicted")


@pytest.mark.parametrize(
    ("outcome", "kind", "members", "expected"),
    [
        ("FAILED", "succeed", {}, ("OUTCOME", "FAILED", "SUCCEEDED")),
        ("SUCCEEDED", "fail", {}, ("OUTCOME", "SUCCEEDED", "FAILED")),
        ("SUCCEEDED", "cancelled", {}, ("OUTCOME", "SUCCEEDED", "CANCELLED")),
        (
            "SUCCEEDED",
            "succeed",
            {"result": '{"paid":false}'},
            ("RESULT", "SUCCEEDED", "SUCCEEDED"),
        ),
    ],
)
def test_a_late_report_that_disagrees_opens_a_contradiction(
    outcome, kind, members, expected
):
    lease, review = settled(outcome, business_key="order-1")
    task_id, before = lease.task.id, row_of(lease.task.id)
    audits = OperationAudit.objects.filter(task_id=task_id).count()

    refusal = reported(lease, kind, **members)

    assert refusal.details["reason"] == "LEASE"
    [contradiction] = Contradiction.objects.all()
    [evidence] = Evidence.objects.all()
    assert (
        contradiction.kind,
        contradiction.declared,
        contradiction.claimed,
    ) == expected
    assert contradiction.evidence_id == evidence.id
    assert contradiction.audit_id == review.audit_id
    assert contradiction.attempt_id == lease.attempt_id
    assert contradiction.created_at == evidence.received_at
    assert row_of(task_id) == before
    assert OperationAudit.objects.filter(task_id=task_id).count() == audits
    [event] = contradicted_events(task_id)
    body = json.loads(event.payload)
    assert event.revision == 4
    assert body == {
        "kind": "task.contradicted",
        "task_id": task_id.hex,
        "queue_id": lease.task.queue_id.hex,
        "state": outcome,
        "revision": "4",
        "handler": lease.task.handler,
        "attempt_count": 1,
        "business_key": "order-1",
        "contradiction_id": contradiction.id.hex,
        "evidence_id": evidence.id.hex,
        "attempt_id": lease.attempt_id.hex,
        "audit_id": review.audit_id.hex,
        "disagreement": expected[0],
        "claimed": expected[2],
        "occurred_at": body["occurred_at"],
    }


@pytest.mark.parametrize(
    ("outcome", "kind", "members"),
    [
        ("FAILED", "fail", {}),
        ("FAILED", "unknown", {"failure": BROKEN}),
        ("SUCCEEDED", "unknown", {"failure": BROKEN}),
        ("SUCCEEDED", "succeed", {"result": '{ "paid" : true }'}),
    ],
)
def test_a_late_report_that_agrees_is_only_evidence(outcome, kind, members):
    lease, _ = settled(outcome)

    reported(lease, kind, **members)

    assert Evidence.objects.count() == 1
    assert Contradiction.objects.count() == 0
    assert contradicted_events(lease.task.id).count() == 0


def test_the_same_late_report_again_changes_nothing():
    lease, _ = settled("FAILED")
    reported(lease, "succeed")
    before = every_row()

    reported(lease, "succeed")

    assert every_row() == before


def test_each_piece_of_evidence_has_its_own_contradiction_in_one_batch_too():
    lease, _ = settled("FAILED")
    task = Task.objects.get(id=lease.task.id)
    reports = [a_report(lease, "succeed", result=result) for result in ("1", "2", "1")]

    report_attempts(reports, actor=WORKER, reach=reach_of(task.queue))

    assert Evidence.objects.count() == 2
    assert Contradiction.objects.count() == 2
    assert contradicted_events(task.id).count() == 2


def test_what_came_before_the_review_is_what_the_reviewer_decided_on():
    lease = a_lease()
    reported(lease, "unknown")
    reported(lease, "succeed")

    reviewed(Task.objects.get(id=lease.task.id), outcome="FAILED")

    assert Contradiction.objects.count() == 0


def test_a_contradiction_after_a_retry_names_the_act_that_declared():
    lease, review = settled("FAILED")
    retried(Task.objects.get(id=lease.task.id))

    reported(lease, "succeed")

    assert Contradiction.objects.get().audit_id == review.audit_id


def test_a_worker_may_contradict_its_own_report():
    lease = a_lease()
    reported(lease, "fail")

    reported(lease, "succeed")

    [contradiction] = Contradiction.objects.all()
    assert contradiction.declared == "FAILED"
    audit = OperationAudit.objects.get(id=contradiction.audit_id)
    assert audit.action == "task.fail"


def test_the_success_of_a_later_attempt_agrees_with_the_failure_of_an_earlier_one():
    first = a_lease(recovery_safety="REPLAY_SAFE", max_attempts=2)
    lose(first)
    reap_leases(limit=1)
    reported(again(first.task.id), "succeed")

    reported(first, "fail")
    assert Contradiction.objects.count() == 0

    reported(first, "succeed", result='{"done":"twice"}')
    assert Contradiction.objects.get().kind == "RESULT"
