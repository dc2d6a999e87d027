"""A person re-executes a failed or cancelled task as a new, linked one."""

from uuid import UUID

import msgspec

from orbit.ids import new_id
from tasks_app.domain.access import Actor, Reach
from tasks_app.domain.commands import RetryTask
from tasks_app.domain.declarations import (
    check_declared,
    check_evidence_ref,
    check_reason,
)
from tasks_app.domain.errors import ApplicationFull, QueueFull
from tasks_app.domain.idempotency import Identity
from tasks_app.domain.lifecycle import RETRYABLE, State
from tasks_app.domain.ownership import policy_for
from tasks_app.domain.timing import parse_moment, window
from tasks_app.models.acceptance import (
    NewTask,
    Place,
    SourceAudit,
    write_tasks,
)
from tasks_app.models.chain import Audit
from tasks_app.models.locking import (
    LockedTask,
    check_idle,
    check_revision,
    conflict,
    lock_task,
)
from tasks_app.models.record import TaskRecord
from tasks_app.models.replay import Answered, replay
from tasks_app.models.statements.quota import patiently, take_under_lock
from tasks_app.models.transition import picture

OPERATION = "task.retry"

_encode = msgspec.json.Encoder(uuid_format="hex").encode


def retry_task(
    command: RetryTask,
    *,
    task_id: UUID,
    identity: Identity,
    actor: Actor,
    reach: Reach,
) -> Answered:
    """Create the one direct successor of a final task (spec, section 3).

    Answers the new task; its `retry_of` is the source, which does not change. Raises
    Invalid, TaskNotFound, IdempotencyConflict, StateConflict, QueueFull or
    ApplicationFull; then nothing is written and the key is not used up.
    """
    check_reason(command.reason)
    check_evidence_ref(command.evidence_ref)
    check_declared(
        "safe_to_retry",
        is_declared=command.safe_to_retry,
        meaning="the old execution has ended and running it again is safe",
    )
    return patiently(
        lambda is_patient: _retry(
            command,
            task_id=task_id,
            identity=identity,
            actor=actor,
            reach=reach,
            is_patient=is_patient,
        )
    )


def _retry(
    command: RetryTask,
    *,
    task_id: UUID,
    identity: Identity,
    actor: Actor,
    reach: Reach,
    is_patient: bool,
) -> Answered:
    locked = lock_task(
        task_id=task_id, reach=reach, operation=OPERATION, identity=identity
    )
    if locked.receipt is not None:
        return replay(locked.receipt)
    _check_retryable(locked, command)
    source = locked.task
    audit_id = new_id()
    child = _child(source, command, locked=locked, identity=identity, audit_id=audit_id)
    place = Place(
        namespace_id=source.namespace_id,
        application_id=source.application_id,
        queue_id=source.queue_id,
        operation=OPERATION,
        subject_id=source.id,
    )
    if is_patient:
        _take_one(place)
    [accepted] = write_tasks(
        [child],
        place=place,
        actor=actor,
        now=locked.now,
        is_quota_taken=is_patient,
        source=_source_audit(source, child, audit_id, command),
    )
    return Answered(
        task=accepted,
        audit_id=audit_id,
        deduplicated=False,
    )


def _check_retryable(locked: LockedTask, command: RetryTask) -> None:
    task = locked.task
    if locked.successor_id is not None:
        raise conflict(
            locked,
            "ALREADY_RETRIED",
            "The task has a successor already. Go on from the successor.",
            action=OPERATION,
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


def _child(
    source: TaskRecord,
    command: RetryTask,
    *,
    locked: LockedTask,
    identity: Identity,
    audit_id: UUID,
) -> NewTask:
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
        identity=identity,
        retry_of=source.id,
        receipt_audit_id=audit_id,
    )


def _take_one(place: Place) -> None:
    units, scarce = take_under_lock(
        application=place.application_id, queue=place.queue_id, wanted=1
    )
    if not units:
        raise QueueFull() if scarce == place.queue_id else ApplicationFull()


def _source_audit(
    source: TaskRecord, child: NewTask, audit_id: UUID, command: RetryTask
) -> SourceAudit:
    after = {
        "source_task_id": source.id,
        "retry_task_id": child.id,
        "safe_to_retry": True,
        "task_timeout_ms": command.task_timeout_ms,
    }
    audit = Audit(
        id=audit_id,
        action=OPERATION,
        revision=source.revision,
        reason=command.reason,
        evidence_ref=command.evidence_ref,
        before=picture(source.state, source.revision),
        after=_encode(after).decode(),
    )
    return SourceAudit(task=source, audit=audit)
