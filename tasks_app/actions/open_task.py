"""Accept a task for its owner, as a step of the owner's own transaction."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from orbit.transactions import require_transaction
from tasks_app.domain.access import Actor
from tasks_app.domain.commands import MAX_PAYLOAD_BYTES
from tasks_app.domain.declarations import check_size
from tasks_app.domain.errors import (
    ApplicationDisabled,
    ApplicationFull,
    QueueFull,
    QueueNotFound,
)
from tasks_app.domain.lifecycle import OwnerKind, RecoverySafety
from tasks_app.domain.retry_policy import RetryPolicy
from tasks_app.domain.timing import window
from tasks_app.models.acceptance import NewTask, Place, write_tasks
from tasks_app.models.statements.quota import take_under_lock
from tasks_app.models.statements.read import QUEUE
from tasks_app.models.statements.run import rows


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnedTask:
    """A task that an owner opens; `payload` is exact JSON text, times in ms."""

    namespace_id: UUID
    queue_id: UUID
    owner_kind: OwnerKind
    owner_id: UUID
    handler: str
    handler_version: str
    payload: str
    retry: RetryPolicy
    task_timeout_ms: int
    recovery_safety: RecoverySafety
    is_gated: bool = False
    business_key: str | None = None


def open_task(
    task: OwnedTask, *, actor: Actor, now: datetime, is_patient: bool
) -> UUID:
    """The id of the new task; run it within `patiently`.

    Raises QueueNotFound, ApplicationDisabled, QueueFull, ApplicationFull or Invalid;
    the owner's transaction must then end, nothing may be kept.
    """
    require_transaction()
    place = _place(task)
    check_size("payload", task.payload.encode(), limit=MAX_PAYLOAD_BYTES)
    if is_patient:
        units, scarce = take_under_lock(
            application=place.application_id, queue=place.queue_id, wanted=1
        )
        if not units:
            raise QueueFull() if scarce == place.queue_id else ApplicationFull()
    new = NewTask(
        handler=task.handler,
        handler_version=task.handler_version,
        payload_version="v1",
        payload=task.payload,
        business_key=task.business_key,
        concurrency_key=None,
        priority=0,
        recovery_safety=task.recovery_safety,
        max_attempts=task.retry.max_attempts,
        initial_delay_ms=task.retry.initial_delay_ms,
        max_delay_ms=task.retry.max_delay_ms,
        attempt_timeout_ms=task.retry.attempt_timeout_ms,
        window=window(
            now=now,
            task_timeout_ms=task.task_timeout_ms,
            attempt_timeout_ms=task.retry.attempt_timeout_ms,
            available_at=None,
            start_deadline_at=None,
        ),
        owner_kind=task.owner_kind,
        owner_id=task.owner_id,
        is_gated=task.is_gated,
    )
    write_tasks([new], place=place, actor=actor, now=now, is_quota_taken=is_patient)
    return new.id


def _place(task: OwnedTask) -> Place:
    found = rows(
        QUEUE, {"namespace": task.namespace_id, "queue": task.queue_id, "keys": []}
    )
    if not found:
        raise QueueNotFound
    application_id, is_enabled = found[0][:2]
    if not is_enabled:
        raise ApplicationDisabled
    return Place(
        namespace_id=task.namespace_id,
        application_id=application_id,
        queue_id=task.queue_id,
        operation="task.open",
        subject_id=task.owner_id,
    )
