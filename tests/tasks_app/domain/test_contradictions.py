"""What a late report claims against the outcome that a task has."""

from uuid import UUID

import pytest

from tasks_app.domain.contradictions import Declared, contradiction_of
from tasks_app.domain.lifecycle import Failure, Outcome, State
from tasks_app.domain.reports import Report, ReportKind

BROKEN = Failure(code="BROKEN", message="no")


def a_claim(kind, *, result='{"paid":true}'):
    return Report(
        attempt_id=UUID(int=1),
        lease_token="t",
        kind=ReportKind(kind),
        result=result if kind == "succeed" else None,
        failure=BROKEN if kind == "fail" else None,
    )


def found(kind, state, *, result=None, last="UNKNOWN", attempt="UNKNOWN", **claim):
    """What it contradicts, as (kind, declared, claimed), or None."""
    contradiction = contradiction_of(
        a_claim(kind, **claim),
        declared=Declared(
            state=State(state), result=result, last_outcome=Outcome(last)
        ),
        attempt=Outcome(attempt),
    )
    return contradiction and (
        contradiction.kind.value,
        contradiction.declared.value,
        contradiction.claimed.value,
    )


@pytest.mark.parametrize("state", ["FAILED", "CANCELLED"])
def test_a_late_success_contradicts_that_nothing_happened(state):
    assert found("succeed", state) == ("OUTCOME", state, "SUCCEEDED")
    assert found("succeed", state, last="FAILED") == ("OUTCOME", state, "SUCCEEDED")


@pytest.mark.parametrize("kind", ["fail", "cancelled"])
@pytest.mark.parametrize("state", ["FAILED", "CANCELLED"])
def test_two_ways_of_saying_that_nothing_happened_agree(kind, state):
    assert found(kind, state) is None


@pytest.mark.parametrize(
    ("kind", "claimed"), [("fail", "FAILED"), ("cancelled", "CANCELLED")]
)
def test_a_declared_success_is_contradicted_by_a_late_failure(kind, claimed):
    assert found(kind, "SUCCEEDED") == ("OUTCOME", "SUCCEEDED", claimed)


@pytest.mark.parametrize("kind", ["fail", "cancelled"])
def test_a_failed_attempt_does_not_contradict_the_success_of_another(kind):
    assert found(kind, "SUCCEEDED", last="SUCCEEDED") is None
    same = found(kind, "SUCCEEDED", last="SUCCEEDED", attempt="SUCCEEDED")
    assert same is not None


def test_results_are_compared_by_their_canonical_form():
    same = {"result": '{"b": 1.10, "a": 1}', "last": "UNKNOWN"}
    report = contradiction_of(
        a_claim("succeed", result='{"a":1,"b":1.10}'),
        declared=Declared(
            state=State.SUCCEEDED, result=same["result"], last_outcome=None
        ),
        attempt=Outcome.UNKNOWN,
    )
    other = contradiction_of(
        a_claim("succeed", result='{"a":1,"b":1.1}'),
        declared=Declared(
            state=State.SUCCEEDED, result=same["result"], last_outcome=None
        ),
        attempt=Outcome.UNKNOWN,
    )

    assert report is None
    assert other is not None
    assert other.kind == "RESULT"
    assert other.declared_digest != other.claimed_digest


@pytest.mark.parametrize("state", ["WAITING", "RUNNING", "NEEDS_REVIEW"])
@pytest.mark.parametrize("kind", ["succeed", "fail", "unknown", "cancelled"])
def test_what_has_no_outcome_cannot_be_contradicted(kind, state):
    assert found(kind, state) is None


@pytest.mark.parametrize("state", ["SUCCEEDED", "FAILED", "CANCELLED"])
def test_who_does_not_know_contradicts_nobody(state):
    assert found("unknown", state) is None
