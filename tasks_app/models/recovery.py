"""The rules of review and retry on a task as it was read, and what they bring about.

The acts decide by them under the task's lock, the previews without one.
"""

import msgspec

from orbit.exact_json import digest
from tasks_app.domain import lifecycle
from tasks_app.domain.commands import RetryTask, ReviewTask
from tasks_app.domain.lifecycle import RETRYABLE, Move, State
from tasks_app.domain.ownership import policy_for
from tasks_app.domain.timing import parse_moment, window
from tasks_app.models.acceptance import NewTask, Place
from tasks_app.models.grounds import check_dossier
from tasks_app.models.locking import (
    LockedTask,
    check_idle,
    check_revision,
    conflict,
)
from tasks_app.models.record import TaskRecord

REVIEW = "task.review"
RETRY = "task.retry"


def check_reviewable(locked: LockedTask, command: ReviewTask) -> None:
    """Raise StateConflict unless the review may settle the task (spec, section 2)."""
    task = locked.task
    if task.state != State.NEEDS_REVIEW:
        raise conflict(
            locked,
            "STATE",
            f"Only a task in NEEDS_REVIEW can be reviewed; this one is {task.state}.",
        )
    check_revision(locked, command.expected_revision)
    if task.is_gated:
        raise conflict(
            locked, "GATE", "The task waits behind a gate: its owner must open it."
        )
    refusal = policy_for(task.owner).refuse_review(
        task_id=task.id, owner_id=task.owner_id
    )
    if refusal is not None:
        raise conflict(locked, "OWNER", refusal)
    check_idle(locked)
    if command.expected_dossier_digest is not msgspec.UNSET:
        check_dossier(task.id, command.expected_dossier_digest)


def check_one_is_enough(locked: LockedTask) -> None:
    """Raise StateConflict where the queue wants two people for a review."""
    if locked.duty.second_approver:
        raise conflict(
            locked,
            "SECOND_APPROVER",
            "This queue wants two people for a review: send the same body to "
            ":propose-review, and let another reviewer approve it.",
        )


def settled_by(task: TaskRecord, command: ReviewTask) -> tuple[Move, dict[str, object]]:
    """The move that a review makes, and what its audit says besides.

    The dossier's digest is there if the reviewer named it: it was the present one.
    """
    result = bytes(command.result).decode()
    move = lifecycle.settle(
        task.standing, outcome=State(command.outcome), result=result
    )
    after: dict[str, object] = {
        "effect_uncertain": False,
        "execution_settled": True,
        "result_digest": digest(result),
    }
    if command.expected_dossier_digest is not msgspec.UNSET:
        after["dossier_digest"] = command.expected_dossier_digest
    return move, after


def check_retryable(locked: LockedTask, command: RetryTask) -> None:
    """Raise StateConflict unless the task may be retried (spec, section 3)."""
    task = locked.task
    if locked.successor_id is not None:
        raise conflict(
            locked,
            "ALREADY_RETRIED",
            "The task has a successor already. Go on from the successor.",
            action=RETRY,
        )
    if task.state not in RETRYABLE:
        raise conflict(locked, "STATE", _why_not(State(task.state)))
    if task.effect_uncertain:
        raise conflict(
            locked, "EFFECT_UNCERTAIN", "The effect is uncertain: review it first."
        )
    check_revision(locked, command.expected_revision)
    refusal = policy_for(task.owner).refuse_retry(
        task_id=task.id, owner_id=task.owner_id
    )
    if refusal is not None:
        raise conflict(locked, "OWNER", refusal)
    check_idle(locked)


def _why_not(state: State) -> str:
    match state:
        case State.NEEDS_REVIEW:
            return "Nobody knows whether it took effect: review the task first."
        case State.SUCCEEDED:
            return "The task succeeded: there is nothing to retry."
        case _:
            return f"Only a FAILED or CANCELLED task can be retried; it is {state}."


def successor_of(locked: LockedTask, command: RetryTask) -> NewTask:
    """The task that a retry makes, without an identity; raises InvalidField."""
    source = locked.task
    return NewTask(
        handler=source.handler,
        handler_version=source.handler_version,
        payload_version=source.payload_version,
        payload=source.payload,
        business_key=source.business_key,
        concurrency_key=source.concurrency_key,
        priority=source.priority,
        recovery_safety=source.recovery_safety,
        max_attempts=source.max_attempts,
        initial_delay_ms=source.initial_delay_ms,
        max_delay_ms=source.max_delay_ms,
        attempt_timeout_ms=source.attempt_timeout_ms,
        window=window(
            now=locked.now,
            task_timeout_ms=command.task_timeout_ms,
            attempt_timeout_ms=source.attempt_timeout_ms,
            available_at=parse_moment("available_at", command.available_at),
            start_deadline_at=parse_moment(
                "start_deadline_at", command.start_deadline_at
            ),
        ),
        retry_of=source.id,
    )


def place_of_successor(source: TaskRecord) -> Place:
    """Where the successor goes: to the queue of its source."""
    return Place(
        namespace_id=source.namespace_id,
        application_id=source.application_id,
        queue_id=source.queue_id,
        operation=RETRY,
        subject_id=source.id,
    )


def retry_says(command: RetryTask) -> dict[str, object]:
    """What the audit of a retry keeps of its declaration."""
    return {"safe_to_retry": True, "task_timeout_ms": command.task_timeout_ms}
