"""A person has it looked up whether a task took effect."""

from dataclasses import replace
from uuid import UUID

from orbit.exact_json import encode
from orbit.ids import new_id
from tasks_app.domain.access import Actor, Reach
from tasks_app.domain.errors import ApplicationFull, QueueFull
from tasks_app.domain.idempotency import Identity
from tasks_app.domain.lifecycle import OwnerKind, RecoverySafety
from tasks_app.domain.ownership import announce_probe
from tasks_app.domain.probes import (
    RETRY_POLICY,
    TIMEOUT_MS,
    probe_handler,
    probe_payload,
)
from tasks_app.domain.timing import window
from tasks_app.models.acceptance import (
    NewTask,
    Place,
    SourceAudit,
    write_tasks,
)
from tasks_app.models.chain import Audit
from tasks_app.models.grounds import grounds_from, task_with_grounds
from tasks_app.models.locking import LockedTask, lock_task
from tasks_app.models.probing import check_probeable
from tasks_app.models.replay import Answered, replay
from tasks_app.models.statements.quota import patiently, take_under_lock
from tasks_app.models.transition import picture

OPERATION = "task.probe"


def start_probe(
    *, task_id: UUID, identity: Identity, actor: Actor, reach: Reach
) -> Answered:
    """Open a task that looks whether this NEEDS_REVIEW task took effect.

    Answers the probe's task. It changes nothing of the task that it looks at; what it
    finds becomes evidence of it. Raises TaskNotFound, IdempotencyConflict,
    StateConflict, QueueFull or ApplicationFull; then nothing is written.
    """
    return patiently(
        lambda is_patient: _start(
            task_id=task_id,
            identity=identity,
            actor=actor,
            reach=reach,
            is_patient=is_patient,
        )
    )


def _start(
    *, task_id: UUID, identity: Identity, actor: Actor, reach: Reach, is_patient: bool
) -> Answered:
    locked = lock_task(
        task_id=task_id, reach=reach, operation=OPERATION, identity=identity
    )
    if locked.receipt is not None:
        return replay(locked.receipt)
    check_probeable(locked)
    source = locked.task
    audit_id = new_id()
    probe = replace(_probe_of(locked), identity=identity, receipt_audit_id=audit_id)
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
        [probe],
        place=place,
        actor=actor,
        now=locked.now,
        is_quota_taken=is_patient,
        source=_source_audit(locked, probe, audit_id),
    )
    announce_probe(source.owner, probe_id=probe.id)
    return Answered(
        task=accepted,
        audit_id=audit_id,
        deduplicated=False,
    )


def _probe_of(locked: LockedTask) -> NewTask:
    task = locked.task
    found = task_with_grounds(task.id)
    attempts = grounds_from(*found, does_owner_agree=True).attempts if found else ()
    return NewTask(
        handler=probe_handler(task.handler) or task.handler,
        handler_version=task.handler_version,
        payload_version="v1",
        payload=probe_payload(
            task_id=task.id,
            owner_id=task.owner_id,
            handler=task.handler,
            handler_version=task.handler_version,
            payload=task.payload,
            attempts=attempts,
        ),
        business_key=None,
        concurrency_key=None,
        priority=task.priority,
        # It only reads, so it may look again.
        recovery_safety=RecoverySafety.REPLAY_SAFE,
        max_attempts=RETRY_POLICY.max_attempts,
        initial_delay_ms=RETRY_POLICY.initial_delay_ms,
        max_delay_ms=RETRY_POLICY.max_delay_ms,
        attempt_timeout_ms=RETRY_POLICY.attempt_timeout_ms,
        window=window(
            now=locked.now,
            task_timeout_ms=TIMEOUT_MS,
            attempt_timeout_ms=RETRY_POLICY.attempt_timeout_ms,
            available_at=None,
            start_deadline_at=None,
        ),
        owner_kind=OwnerKind.PROBE,
        owner_id=task.id,
    )


def _take_one(place: Place) -> None:
    units, scarce = take_under_lock(
        application=place.application_id, queue=place.queue_id, wanted=1
    )
    if not units:
        raise QueueFull() if scarce == place.queue_id else ApplicationFull()


def _source_audit(locked: LockedTask, probe: NewTask, audit_id: UUID) -> SourceAudit:
    task = locked.task
    audit = Audit(
        id=audit_id,
        action=OPERATION,
        revision=task.revision,
        before=picture(task.state, task.revision),
        after=encode({"probe_task_id": probe.id, "handler": probe.handler}).decode(),
    )
    return SourceAudit(task=task, audit=audit)
