"""The states of a task, the moves between them, and what each move decides."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from tasks_app.domain.retry_policy import RetryPolicy


class State(StrEnum):
    """Where a task stands.

    WAITING: may be claimed once due; a worker, a cancel or a deadline moves it on; a
    crash changes nothing. RUNNING: one attempt holds the lease; its report moves it
    on, and when the lease is lost maintenance does. NEEDS_REVIEW: nobody knows whether
    the effect happened; only a person's review moves it on. SUCCEEDED, FAILED and
    CANCELLED are final; FAILED and CANCELLED may be retried as a new task.
    """

    WAITING = "WAITING"
    RUNNING = "RUNNING"
    NEEDS_REVIEW = "NEEDS_REVIEW"
    SUCCEEDED = "SUCCEEDED"
    FAILED = "FAILED"
    CANCELLED = "CANCELLED"


class Outcome(StrEnum):
    """How an attempt stands or ended; UNKNOWN covers a lost lease."""

    ACTIVE = "ACTIVE"
    SUCCEEDED = "SUCCEEDED"
    FAILED = "FAILED"
    UNKNOWN = "UNKNOWN"
    CANCELLED = "CANCELLED"


class RecoverySafety(StrEnum):
    """What may happen after an unknown outcome: ask a person, or run again."""

    RECONCILE_ONLY = "RECONCILE_ONLY"
    REPLAY_SAFE = "REPLAY_SAFE"


class OwnerKind(StrEnum):
    """Who recovers the task: itself, a scheduled job, a workflow, or nobody.

    A PROBE looks on behalf of the task that owns it whether that one took effect.
    """

    STANDALONE = "STANDALONE"
    SCHEDULE = "SCHEDULE"
    WORKFLOW = "WORKFLOW"
    PROBE = "PROBE"


FINAL = frozenset({State.SUCCEEDED, State.FAILED, State.CANCELLED})
RETRYABLE = frozenset({State.FAILED, State.CANCELLED})

MOVES: dict[State, frozenset[State]] = {
    State.WAITING: frozenset(
        {State.RUNNING, State.CANCELLED, State.FAILED, State.NEEDS_REVIEW}
    ),
    State.RUNNING: frozenset(
        {
            State.SUCCEEDED,
            State.FAILED,
            State.CANCELLED,
            State.WAITING,
            State.NEEDS_REVIEW,
        }
    ),
    State.NEEDS_REVIEW: frozenset({State.SUCCEEDED, State.FAILED}),
    State.SUCCEEDED: frozenset(),
    State.FAILED: frozenset(),
    State.CANCELLED: frozenset(),
}


class IllegalMove(Exception):
    """A move that the table above does not have; a fault of the program."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Why an attempt or a task failed: a short code and a message for people."""

    code: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What a decision needs to know of a task as it stands under its lock."""

    state: State
    recovery_safety: RecoverySafety
    retry: RetryPolicy
    attempt_count: int
    deadline_at: datetime
    last_outcome: Outcome | None
    cancel_requested: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """One decided change of state; `due_at` is set only when going back to WAITING."""

    to: State
    outcome: Outcome | None = None
    result: str | None = None
    failure: Failure | None = None
    due_at: datetime | None = None

    @property
    def is_final(self) -> bool:
        """Whether the task is done with and releases its quota."""
        return self.to in FINAL


def _checked(standing: Standing, move: Move) -> Move:
    if move.to not in MOVES[standing.state]:
        raise IllegalMove(f"{standing.state} -> {move.to}")
    return move


def succeed(standing: Standing, *, result: str) -> Move:
    """The worker reports success with its result (exact JSON text)."""
    return _checked(
        standing, Move(to=State.SUCCEEDED, outcome=Outcome.SUCCEEDED, result=result)
    )


def fail(
    standing: Standing, *, failure: Failure, is_retryable: bool, now: datetime
) -> Move:
    """The worker reports a known failure: run again while it may, else FAILED.

    A retryable failure of a task whose cancel was requested ends as CANCELLED.
    """
    move = Move(to=State.FAILED, outcome=Outcome.FAILED, failure=failure)
    if is_retryable and standing.cancel_requested:
        move = Move(to=State.CANCELLED, outcome=Outcome.FAILED, failure=failure)
    elif is_retryable:
        due_at = _next_attempt_at(standing, now)
        if due_at is not None:
            move = Move(
                to=State.WAITING, outcome=Outcome.FAILED, failure=failure, due_at=due_at
            )
    return _checked(standing, move)


def worker_unsure(standing: Standing, *, failure: Failure) -> Move:
    """The worker itself does not know: a person must look, whatever the safety."""
    return _checked(
        standing,
        Move(to=State.NEEDS_REVIEW, outcome=Outcome.UNKNOWN, failure=failure),
    )


def lose(standing: Standing, *, failure: Failure, now: datetime) -> Move:
    """The lease was lost or timed out: nobody knows the outcome.

    REPLAY_SAFE runs again while attempts and time are left; all else needs review.
    """
    due_at = (
        _next_attempt_at(standing, now)
        if standing.recovery_safety is RecoverySafety.REPLAY_SAFE
        else None
    )
    to = State.NEEDS_REVIEW if due_at is None else State.WAITING
    return _checked(
        standing, Move(to=to, outcome=Outcome.UNKNOWN, failure=failure, due_at=due_at)
    )


def acknowledge_cancel(standing: Standing) -> Move:
    """The worker stopped because cancel was requested."""
    return _checked(standing, Move(to=State.CANCELLED, outcome=Outcome.CANCELLED))


def cancel_waiting(standing: Standing) -> Move:
    """Cancel before the next attempt; an unknown last outcome still needs review."""
    return _checked(standing, _end_waiting(standing, Move(to=State.CANCELLED)))


def expire_waiting(standing: Standing, *, failure: Failure) -> Move:
    """A deadline passed while waiting; an unknown last outcome still needs review."""
    return _checked(
        standing, _end_waiting(standing, Move(to=State.FAILED, failure=failure))
    )


def settle(standing: Standing, *, outcome: State, result: str) -> Move:
    """A person's review decides SUCCEEDED or FAILED with a result."""
    return _checked(standing, Move(to=outcome, result=result))


def _end_waiting(standing: Standing, move: Move) -> Move:
    if standing.last_outcome is Outcome.UNKNOWN:
        return Move(to=State.NEEDS_REVIEW, failure=move.failure)
    return move


def _next_attempt_at(standing: Standing, now: datetime) -> datetime | None:
    if standing.attempt_count >= standing.retry.max_attempts:
        return None
    due_at = now + timedelta(
        milliseconds=standing.retry.delay_ms(standing.attempt_count)
    )
    return due_at if due_at < standing.deadline_at else None
