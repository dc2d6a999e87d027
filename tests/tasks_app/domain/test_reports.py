"""What a worker may say, and what follows from it."""

import hashlib
import json
from dataclasses import replace
from datetime import timedelta

import pytest

from orbit.ids import new_id
from tasks_app.domain.commands import MAX_RESULT_BYTES
from tasks_app.domain.errors import InvalidField, LeaseConflict
from tasks_app.domain.lifecycle import Failure, Outcome, State
from tasks_app.domain.reports import Report, ReportKind
from tests.tasks_app.domain.test_lifecycle import NOW, a_standing

FAILURE = Failure(code="BROKEN", message="账本拒绝")


def a_report(kind, **members):
    return Report(attempt_id=new_id(), lease_token="secret", kind=kind, **members)


def decided(report, standing=None):
    return report.decide(standing or a_standing(), revision=2, now=NOW)


def test_succeed_carries_its_result():
    move = decided(a_report(ReportKind.SUCCEED, result="1.10"))

    assert (move.to, move.result) == (State.SUCCEEDED, "1.10")


@pytest.mark.parametrize(
    ("is_retryable", "to"), [(True, State.WAITING), (False, State.FAILED)]
)
def test_fail_runs_again_only_when_the_worker_says_so(is_retryable, to):
    report = a_report(ReportKind.FAIL, failure=FAILURE, is_retryable=is_retryable)

    move = decided(report)

    assert (move.to, move.failure) == (to, FAILURE)


@pytest.mark.parametrize("failure", [None, FAILURE])
def test_unknown_needs_review_and_always_says_why(failure):
    move = decided(a_report(ReportKind.UNKNOWN, failure=failure))

    assert (move.to, move.outcome) == (State.NEEDS_REVIEW, Outcome.UNKNOWN)
    assert move.failure == (failure or move.failure)
    assert move.failure.code == ("BROKEN" if failure else "OUTCOME_UNKNOWN")


def test_cancelled_is_believed_only_after_a_request():
    report = a_report(ReportKind.CANCELLED)

    assert decided(report, a_standing(cancel_requested=True)).to is State.CANCELLED
    with pytest.raises(LeaseConflict) as refused:
        decided(report)
    assert refused.value.details == {
        "reason": "STATE",
        "state": "RUNNING",
        "revision": "2",
    }


def test_a_result_of_exactly_the_limit_is_taken_and_one_byte_more_is_not():
    fits = '"' + "x" * (MAX_RESULT_BYTES - 2) + '"'

    a_report(ReportKind.SUCCEED, result=fits).check()
    with pytest.raises(InvalidField) as refused:
        a_report(ReportKind.SUCCEED, result=f"{fits} ").check()

    assert refused.value.field == "result"


def test_the_limit_counts_bytes_not_characters():
    characters = '"' + "账" * (MAX_RESULT_BYTES // 3) + '"'

    with pytest.raises(InvalidField):
        a_report(ReportKind.SUCCEED, result=characters).check()


def test_the_content_is_json_with_the_digits_that_were_sent():
    report = a_report(ReportKind.SUCCEED, result='{"n":1E400}')

    assert '"result":{"n":1E400}' in report.content
    failed = a_report(ReportKind.FAIL, failure=FAILURE, is_retryable=True)
    assert json.loads(failed.content) == {
        "kind": "fail",
        "result": None,
        "error": {"code": "BROKEN", "message": "账本拒绝"},
        "retryable": True,
    }


def test_the_same_content_has_the_same_digest_whatever_the_lease():
    report = a_report(ReportKind.SUCCEED, result="1")

    assert replace(report, lease_token="other").digest == report.digest
    assert replace(report, result="2").digest != report.digest
    assert replace(report, kind=ReportKind.UNKNOWN).digest != report.digest


def test_a_lease_is_known_by_the_hash_of_its_token():
    assert a_report(ReportKind.UNKNOWN).token_hash == hashlib.sha256(b"secret").digest()


def test_a_late_retryable_failure_past_the_deadline_is_final():
    report = a_report(ReportKind.FAIL, failure=FAILURE, is_retryable=True)
    standing = a_standing(deadline_at=NOW - timedelta(seconds=1))

    assert decided(report, standing).to is State.FAILED
