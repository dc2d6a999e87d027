"""The states of a task: which moves there are, and what each decides."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from tasks_app.domain import lifecycle
from tasks_app.domain.lifecycle import (
    FINAL,
    MOVES,
    RETRYABLE,
    Failure,
    IllegalMove,
    Outcome,
    RecoverySafety,
    Standing,
    State,
)
from tasks_app.domain.retry_policy import RetryPolicy

NOW = datetime(2026, 9, 17, tzinfo=UTC)
BROKEN = Failure(code="BROKEN", message="no")


def a_standing(**changes):
    policy = RetryPolicy(
        max_attempts=3,
        initial_delay_ms=1_000,
        max_delay_ms=60_000,
        attempt_timeout_ms=10_000,
    )
    wanted = {
        "state": State.RUNNING,
        "recovery_safety": RecoverySafety.RECONCILE_ONLY,
        "retry": policy,
        "attempt_count": 1,
        "deadline_at": NOW + timedelta(minutes=1),
        "last_outcome": None,
        "cancel_requested": False,
    }
    return Standing(**{**wanted, **changes})


# Each decision with the states that it may start from.
DECISIONS = {
    "succeed": (
        lambda standing: lifecycle.succeed(standing, result="1"),
        {State.RUNNING, State.NEEDS_REVIEW},
    ),
    "fail for good": (
        lambda standing: lifecycle.fail(
            standing, failure=BROKEN, is_retryable=False, now=NOW
        ),
        {State.WAITING, State.RUNNING, State.NEEDS_REVIEW},
    ),
    "fail for now": (
        lambda standing: lifecycle.fail(
            standing, failure=BROKEN, is_retryable=True, now=NOW
        ),
        {State.RUNNING},
    ),
    "be unsure": (
        lambda standing: lifecycle.worker_unsure(standing, failure=BROKEN),
        {State.WAITING, State.RUNNING},
    ),
    "lose, to be reconciled": (
        lambda standing: lifecycle.lose(standing, failure=BROKEN, now=NOW),
        {State.WAITING, State.RUNNING},
    ),
    "lose, safe to replay": (
        lambda standing: lifecycle.lose(
            replace(standing, recovery_safety=RecoverySafety.REPLAY_SAFE),
            failure=BROKEN,
            now=NOW,
        ),
        {State.RUNNING},
    ),
    "acknowledge a cancel": (
        lifecycle.acknowledge_cancel,
        {State.WAITING, State.RUNNING},
    ),
    "cancel": (lifecycle.cancel_waiting, {State.WAITING, State.RUNNING}),
    "expire": (
        lambda standing: lifecycle.expire_waiting(standing, failure=BROKEN),
        {State.WAITING, State.RUNNING, State.NEEDS_REVIEW},
    ),
    "settle as succeeded": (
        lambda standing: lifecycle.settle(
            standing, outcome=State.SUCCEEDED, result="1"
        ),
        {State.RUNNING, State.NEEDS_REVIEW},
    ),
    "settle as failed": (
        lambda standing: lifecycle.settle(standing, outcome=State.FAILED, result="1"),
        {State.WAITING, State.RUNNING, State.NEEDS_REVIEW},
    ),
}


def test_the_moves_are_those_of_the_picture():
    assert {
        "WAITING": {"RUNNING", "CANCELLED", "FAILED", "NEEDS_REVIEW"},
        "RUNNING": {"SUCCEEDED", "FAILED", "CANCELLED", "WAITING", "NEEDS_REVIEW"},
        "NEEDS_REVIEW": {"SUCCEEDED", "FAILED"},
        "SUCCEEDED": set(),
        "FAILED": set(),
        "CANCELLED": set(),
    } == MOVES
    assert {state for state in State if not MOVES[state]} == FINAL
    assert {"FAILED", "CANCELLED"} == RETRYABLE


@pytest.mark.parametrize("state", State)
@pytest.mark.parametrize("decision", DECISIONS)
def test_a_decision_is_taken_only_from_states_that_have_the_move(decision, state):
    decide, legal_from = DECISIONS[decision]
    standing = a_standing(state=state)

    if state in legal_from:
        assert decide(standing).to in MOVES[state]
    else:
        with pytest.raises(IllegalMove, match=f"^{state} -> "):
            decide(standing)


def test_success_keeps_the_result_as_it_was_written():
    move = lifecycle.succeed(a_standing(), result='{"n":1.10}')

    assert (move.to, move.outcome) == (State.SUCCEEDED, Outcome.SUCCEEDED)
    assert move.result == '{"n":1.10}'
    assert move.is_final
    assert (move.failure, move.due_at) == (None, None)


def test_a_final_failure_ends_the_task_though_attempts_are_left():
    move = lifecycle.fail(a_standing(), failure=BROKEN, is_retryable=False, now=NOW)

    assert (move.to, move.outcome, move.failure) == (
        State.FAILED,
        Outcome.FAILED,
        BROKEN,
    )
    assert move.is_final
    assert move.due_at is None


def test_a_retryable_failure_waits_for_its_turn():
    move = lifecycle.fail(a_standing(), failure=BROKEN, is_retryable=True, now=NOW)

    assert (move.to, move.outcome) == (State.WAITING, Outcome.FAILED)
    assert move.due_at == NOW + timedelta(seconds=1)
    assert move.failure == BROKEN
    assert not move.is_final


@pytest.mark.parametrize(
    "changes",
    [
        {"attempt_count": 3},
        {"deadline_at": NOW + timedelta(seconds=1)},
        {"deadline_at": NOW},
    ],
    ids=["no attempts left", "due exactly at the deadline", "past the deadline"],
)
def test_a_retryable_failure_without_attempts_or_time_is_final(changes):
    move = lifecycle.fail(
        a_standing(**changes), failure=BROKEN, is_retryable=True, now=NOW
    )

    assert (move.to, move.outcome, move.due_at) == (State.FAILED, Outcome.FAILED, None)


def test_a_retryable_failure_just_before_the_deadline_runs_again():
    standing = a_standing(deadline_at=NOW + timedelta(seconds=1, microseconds=1))

    move = lifecycle.fail(standing, failure=BROKEN, is_retryable=True, now=NOW)

    assert move.to is State.WAITING


@pytest.mark.parametrize(
    ("is_retryable", "to"), [(True, State.CANCELLED), (False, State.FAILED)]
)
def test_a_failure_after_a_cancel_request_does_not_run_again(is_retryable, to):
    standing = a_standing(cancel_requested=True)

    move = lifecycle.fail(standing, failure=BROKEN, is_retryable=is_retryable, now=NOW)

    assert (move.to, move.outcome, move.due_at) == (to, Outcome.FAILED, None)


@pytest.mark.parametrize("safety", RecoverySafety)
def test_a_worker_that_does_not_know_calls_a_person_whatever_the_safety(safety):
    standing = a_standing(recovery_safety=safety)

    move = lifecycle.worker_unsure(standing, failure=BROKEN)

    assert (move.to, move.outcome) == (State.NEEDS_REVIEW, Outcome.UNKNOWN)
    assert not move.is_final


def test_a_lost_lease_calls_a_person_unless_replay_is_safe():
    move = lifecycle.lose(a_standing(), failure=BROKEN, now=NOW)

    assert (move.to, move.outcome, move.due_at) == (
        State.NEEDS_REVIEW,
        Outcome.UNKNOWN,
        None,
    )


def test_a_lost_lease_runs_again_where_replay_is_safe():
    standing = a_standing(recovery_safety=RecoverySafety.REPLAY_SAFE, attempt_count=2)

    move = lifecycle.lose(standing, failure=BROKEN, now=NOW)

    assert (move.to, move.outcome) == (State.WAITING, Outcome.UNKNOWN)
    assert move.due_at == NOW + timedelta(seconds=2)


@pytest.mark.parametrize(
    "changes",
    [{"attempt_count": 3}, {"deadline_at": NOW}],
    ids=["no attempts left", "no time left"],
)
def test_a_lost_lease_without_a_next_attempt_calls_a_person_not_failure(changes):
    standing = a_standing(recovery_safety=RecoverySafety.REPLAY_SAFE, **changes)

    move = lifecycle.lose(standing, failure=BROKEN, now=NOW)

    assert (move.to, move.outcome) == (State.NEEDS_REVIEW, Outcome.UNKNOWN)


@pytest.mark.parametrize("last_outcome", [None, Outcome.FAILED])
def test_what_waits_with_a_known_past_can_be_cancelled_and_expire(last_outcome):
    standing = a_standing(state=State.WAITING, last_outcome=last_outcome)

    cancel = lifecycle.cancel_waiting(standing)
    expiry = lifecycle.expire_waiting(standing, failure=BROKEN)

    assert (cancel.to, cancel.outcome) == (State.CANCELLED, None)
    assert (expiry.to, expiry.outcome, expiry.failure) == (State.FAILED, None, BROKEN)


def test_what_waits_with_an_unknown_past_needs_review_instead():
    standing = a_standing(state=State.WAITING, last_outcome=Outcome.UNKNOWN)

    cancel = lifecycle.cancel_waiting(standing)
    expiry = lifecycle.expire_waiting(standing, failure=BROKEN)

    assert (cancel.to, cancel.is_final) == (State.NEEDS_REVIEW, False)
    assert (expiry.to, expiry.failure) == (State.NEEDS_REVIEW, BROKEN)


@pytest.mark.parametrize("outcome", [State.SUCCEEDED, State.FAILED])
def test_a_review_decides_with_a_result_and_no_attempt(outcome):
    standing = a_standing(state=State.NEEDS_REVIEW, last_outcome=Outcome.UNKNOWN)

    move = lifecycle.settle(standing, outcome=outcome, result="[]")

    assert (move.to, move.result, move.outcome) == (outcome, "[]", None)
    assert move.is_final


@pytest.mark.parametrize(
    "outcome", sorted(set(State) - {State.SUCCEEDED, State.FAILED})
)
def test_a_review_decides_nothing_else(outcome):
    standing = a_standing(state=State.NEEDS_REVIEW)

    with pytest.raises(IllegalMove):
        lifecycle.settle(standing, outcome=outcome, result="[]")
