"""A person re-executes a failed or cancelled task as a new, linked one."""

from dataclasses import replace
from uuid import UUID

import msgspec

from orbit.ids import new_id
from tasks_app.domain.access import Actor, Reach
from tasks_app.domain.commands import RetryTask
from tasks_app.domain.errors import ApplicationFull, QueueFull
from tasks_app.domain.idempotency import Identity
from tasks_app.domain.recovery import check_retry
from tasks_app.models.acceptance import (
    NewTask,
    Place,
    SourceAudit,
    write_tasks,
)
from tasks_app.models.chain import Audit
from tasks_app.models.locking import lock_task
from tasks_app.models.record import TaskRecord
from tasks_app.models.recovery import (
    RETRY,
    check_retryable,
    place_of_successor,
    retry_says,
    successor_of,
)
from tasks_app.models.replay import Answered, replay
from tasks_app.models.statements.quota import patiently, take_under_lock
from tasks_app.models.transition import picture

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
    check_retry(command)
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
    locked = lock_task(task_id=task_id, reach=reach, operation=RETRY, identity=identity)
    if locked.receipt is not None:
        return replay(locked.receipt)
    check_retryable(locked, command)
    source = locked.task
    audit_id = new_id()
    child = replace(
        successor_of(locked, command), identity=identity, receipt_audit_id=audit_id
    )
    place = place_of_successor(source)
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
        **retry_says(command),
    }
    audit = Audit(
        id=audit_id,
        action=RETRY,
        revision=source.revision,
        reason=command.reason,
        evidence_ref=command.evidence_ref,
        before=picture(source.state, source.revision),
        after=_encode(after).decode(),
    )
    return SourceAudit(task=source, audit=audit)
