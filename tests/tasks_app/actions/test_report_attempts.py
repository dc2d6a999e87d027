"""Reports: each ends its attempt, or is kept as evidence."""

import json

import pytest

from orbit.ids import new_id
from orbit.outbox.models import ResultEvent
from tasks_app.actions.reap_leases import reap_leases
from tasks_app.actions.report_attempts import report_attempts
from tasks_app.domain.access import Reach
from tasks_app.domain.commands import MAX_RESULT_BYTES
from tasks_app.domain.errors import AttemptNotFound, InvalidField, LeaseConflict
from tasks_app.models import Attempt, Evidence, OperationAudit, Permit, Task
from tests.builders import (
    WORKER,
    a_lease,
    a_queue,
    a_report,
    again,
    cancelled,
    every_row,
    lose,
    reach_of,
    reported,
    reviewed,
    room_of,
    row_of,
)

pytestmark = pytest.mark.django_db

ENDINGS = {
    "succeed": ("SUCCEEDED", "SUCCEEDED", "task.succeeded"),
    "fail": ("FAILED", "FAILED", "task.failed"),
    "unknown": ("NEEDS_REVIEW", "UNKNOWN", "task.needs_review"),
}


@pytest.mark.parametrize("kind", ENDINGS)
def test_a_report_ends_the_attempt_and_moves_the_task(kind):
    state, outcome, event_kind = ENDINGS[kind]
    queue = a_queue(max_outstanding=10, max_concurrency=1)
    lease = a_lease(queue=queue)

    answer = reported(lease, kind)

    stored = row_of(lease.task.id)
    assert (answer.state, answer.revision) == (state, 3)
    assert (stored["state"], stored["revision"]) == (state, 3)
    assert stored["lease_attempt_id"] is None
    assert stored["last_outcome"] == outcome
    assert stored["effect_uncertain"] == (kind == "unknown")
    assert (stored["completed_at"] is None) == (kind == "unknown")
    attempt = Attempt.objects.get()
    assert attempt.outcome == outcome
    assert attempt.ended_at == stored["updated_at"]
    assert Permit.objects.count() == 0
    assert room_of(queue.id) == (9 if kind == "unknown" else 10)
    audit = OperationAudit.objects.get(action=f"task.{kind}")
    assert json.loads(audit.before) == {"state": "RUNNING", "revision": "2"}
    after = json.loads(audit.after)
    assert (after["state"], after["revision"], after["outcome"]) == (
        state,
        "3",
        outcome,
    )
    event = ResultEvent.objects.get(revision=3)
    assert event.kind == event_kind
    assert json.loads(event.payload)["audit_id"] == audit.id.hex
    assert Evidence.objects.count() == 0


def test_what_is_answered_is_what_is_stored():
    for kind in ENDINGS:
        answer = reported(a_lease(), kind)
        stored = row_of(answer.id)
        for name, value in answer._asdict().items():
            assert stored[name] == value, (kind, name)


def test_a_retryable_failure_goes_back_to_wait_and_keeps_its_quota():
    queue = a_queue(max_outstanding=10)
    lease = a_lease(queue=queue, max_attempts=2)

    answer = reported(lease, "fail", is_retryable=True)

    assert (answer.state, answer.revision) == ("WAITING", 3)
    assert room_of(queue.id) == 9
    assert not ResultEvent.objects.filter(revision=3).exists()
    second = again(lease.task.id)
    assert second.attempt_number == 2
    assert reported(second, "fail", is_retryable=True).state == "FAILED"
    assert room_of(queue.id) == 10


def test_a_backoff_holds_the_next_attempt_back():
    lease = a_lease(max_attempts=2, initial_delay_ms=5_000, max_delay_ms=5_000)

    reported(lease, "fail", is_retryable=True)

    stored = row_of(lease.task.id)
    assert not stored["is_due"]
    assert (stored["due_at"] - stored["updated_at"]).total_seconds() == 5.0
    assert stored["available_at"] == lease.task.available_at


@pytest.mark.parametrize("kind", ENDINGS)
def test_the_same_report_again_is_answered_like_the_first(kind):
    lease = a_lease()
    first = reported(lease, kind)
    before = every_row()

    assert reported(lease, kind) == first
    assert every_row() == before


def test_a_report_on_an_ended_lease_is_evidence_and_changes_nothing_else():
    lease = a_lease()
    reported(lease, "fail")
    task, events = row_of(lease.task.id), ResultEvent.objects.count()

    answer = reported(lease, "succeed", result='{"late":1.10}')

    assert isinstance(answer, LeaseConflict)
    assert answer.details == {"reason": "LEASE", "state": "FAILED", "revision": "3"}
    [evidence] = Evidence.objects.all()
    assert (evidence.kind, evidence.attempt_id) == ("succeed", lease.attempt_id)
    assert '{"late":1.10}' in evidence.content
    assert row_of(lease.task.id) == task
    # It contradicts the outcome, which stays: only that is told.
    assert ResultEvent.objects.count() == events + 1
    assert ResultEvent.objects.latest("id").kind == "task.contradicted"


def test_the_same_late_report_is_kept_once_and_another_beside_it():
    lease = a_lease()
    reported(lease, "fail")

    for result in ("1", "1", "2"):
        assert isinstance(reported(lease, "succeed", result=result), LeaseConflict)

    assert Evidence.objects.count() == 2


def test_a_report_before_the_reaper_counts_though_the_time_has_run_out():
    lease = a_lease()
    lose(lease)

    assert reported(lease, "succeed").state == "SUCCEEDED"
    assert reap_leases(limit=10) == 0


def test_a_report_after_the_reaper_is_evidence_and_frees_nothing_more():
    queue = a_queue(max_outstanding=10, key_concurrency=1)
    lease = a_lease(queue=queue, concurrency_key="a")
    lose(lease)
    assert reap_leases(limit=10) == 1

    answer = reported(lease, "succeed")

    assert isinstance(answer, LeaseConflict)
    assert answer.details["state"] == "NEEDS_REVIEW"
    assert room_of(queue.id) == 9
    assert Evidence.objects.count() == 1
    reviewed(Task.objects.get(id=lease.task.id))
    assert room_of(queue.id) == 10
    assert isinstance(reported(lease, "fail"), LeaseConflict)
    assert room_of(queue.id) == 10


def test_an_old_lease_cannot_report_on_the_next_attempt():
    first = a_lease(max_attempts=2)
    reported(first, "fail", is_retryable=True)
    again(first.task.id)
    task = row_of(first.task.id)

    answer = reported(first, "succeed")

    assert isinstance(answer, LeaseConflict)
    assert row_of(first.task.id) == task
    assert Attempt.objects.filter(outcome="ACTIVE").count() == 1


def test_another_token_ends_nothing_and_is_not_even_evidence():
    lease = a_lease()
    before = every_row()

    answer = reported(lease, "succeed", lease_token="not the token")

    assert isinstance(answer, LeaseConflict)
    assert every_row() == before


def test_a_result_too_large_leaves_the_lease_reportable():
    lease = a_lease()
    before = every_row()
    large = '"' + "x" * (MAX_RESULT_BYTES - 1) + '"'

    answer = reported(lease, "succeed", result=large)

    assert isinstance(answer, InvalidField)
    assert answer.field == "result"
    assert every_row() == before
    assert reported(lease, "fail").state == "FAILED"


def test_a_worker_stops_only_when_it_was_asked_to():
    lease = a_lease()
    before = every_row()
    early = reported(lease, "cancelled")
    assert isinstance(early, LeaseConflict)
    assert early.details["reason"] == "STATE"
    assert every_row() == before

    cancelled(lease.task.id)
    answer = reported(lease, "cancelled")

    assert answer.state == "CANCELLED"
    assert Attempt.objects.get().outcome == "CANCELLED"
    assert ResultEvent.objects.get(revision=3).kind == "task.cancelled"


def test_many_reports_are_each_answered_in_their_place():
    queue = a_queue()
    leases = [a_lease(queue=queue) for _ in range(4)]
    reported(leases[3], "fail")
    reports = [
        a_report(leases[0], "succeed"),
        a_report(leases[1], "fail"),
        a_report(leases[0], "succeed"),
        a_report(leases[2], "succeed", result='"' + "x" * MAX_RESULT_BYTES + '"'),
        a_report(leases[3], "succeed"),
        a_report(leases[0], "unknown"),
        a_report(leases[0], "succeed", attempt_id=new_id()),
        a_report(leases[2], "unknown"),
    ]

    answers = report_attempts(reports, actor=WORKER, reach=reach_of(queue))

    said = [
        type(entry).__name__ if isinstance(entry, Exception) else entry.state
        for entry in answers
    ]
    assert said == [
        "SUCCEEDED",
        "FAILED",
        "SUCCEEDED",
        "InvalidField",
        "LeaseConflict",
        "LeaseConflict",
        "AttemptNotFound",
        "NEEDS_REVIEW",
    ]
    assert Evidence.objects.count() == 2


def test_an_attempt_out_of_reach_is_like_none():
    lease = a_lease()
    before = every_row()

    for reach in (
        Reach(namespace_id=new_id(), queue_ids=(lease.task.queue_id,)),
        Reach(namespace_id=lease.task.namespace_id, queue_ids=(new_id(),)),
    ):
        [answer] = report_attempts(
            [a_report(lease, "succeed")], actor=WORKER, reach=reach
        )
        assert isinstance(answer, AttemptNotFound)

    assert every_row() == before


def test_a_large_result_is_not_copied_into_the_event():
    lease = a_lease()

    reported(lease, "succeed", result='"' + "x" * 5_000 + '"')

    body = json.loads(ResultEvent.objects.get(revision=3).payload)
    assert "result" not in body
    assert body["result_bytes"] == 5_002
