"""New tasks, written together with quota, receipt, audit and event."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec

from orbit.ids import new_id
from orbit.transactions import require_transaction
from tasks_app.domain.access import Actor
from tasks_app.domain.audit_chain import GENESIS
from tasks_app.domain.idempotency import Identity
from tasks_app.domain.lifecycle import State
from tasks_app.domain.timing import Window
from tasks_app.models.chain import Audit, first_link, head_of, next_link
from tasks_app.models.record import TaskRecord
from tasks_app.models.statements.accept import (
    ACCEPT,
    ACCEPT_TAKEN,
    RETRY,
    RETRY_TAKEN,
)
from tasks_app.models.statements.quota import SharesBusy
from tasks_app.models.statements.run import as_json, rows

_encode = msgspec.json.Encoder(uuid_format="hex").encode


class KeyRace(SharesBusy):
    """Another transaction used one of the keys meanwhile; look again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewTask:
    """What is written of a task at its acceptance, besides its place.

    Without an identity no receipt is kept: its owner answers for doing it once.
    """

    handler: str
    handler_version: str
    payload_version: str
    payload: str
    business_key: str | None
    concurrency_key: str | None
    priority: int
    recovery_safety: str
    max_attempts: int
    initial_delay_ms: int
    max_delay_ms: int
    attempt_timeout_ms: int
    window: Window
    identity: Identity | None = None
    owner_kind: str = "STANDALONE"
    owner_id: UUID | None = None
    is_gated: bool = False
    retry_of: UUID | None = None
    receipt_audit_id: UUID | None = None
    id: UUID = field(default_factory=new_id)
    audit_id: UUID = field(default_factory=new_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where new tasks go, and under which identity of the write."""

    namespace_id: UUID
    application_id: UUID
    queue_id: UUID
    operation: str
    subject_id: UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceAudit:
    """What is recorded on the task that a new one runs again."""

    task: TaskRecord
    audit: Audit

    def row(self, *, actor: Actor, now: datetime) -> dict[str, Any]:
        """Its columns."""
        link = next_link(self.audit, task=self.task, actor=actor, now=now)
        return {"task_id": self.task.id, "revision": self.audit.revision, **link}


_STATEMENTS = {
    (False, False): ACCEPT,
    (False, True): ACCEPT_TAKEN,
    (True, False): RETRY,
    (True, True): RETRY_TAKEN,
}


def write_tasks(
    tasks: Sequence[NewTask],
    *,
    place: Place,
    actor: Actor,
    now: datetime,
    is_quota_taken: bool,
    source: SourceAudit | None = None,
) -> list[TaskRecord]:
    """The tasks as accepted: all of them, or SharesBusy (quota) or KeyRace and none.

    `is_quota_taken` says that the caller holds the units already. `source` is the
    record on another task, locked by the caller, that belongs to the same act.
    """
    require_transaction()
    new = [_row(task, place, actor, now) for task in tasks]
    is_taken, written = rows(
        _STATEMENTS[source is not None, is_quota_taken],
        {
            "tasks": as_json(new),
            "source_audit": source and as_json(source.row(actor=actor, now=now)),
            "namespace": place.namespace_id,
            "application": place.application_id,
            "queue": place.queue_id,
            "operation": place.operation,
            "subject": place.subject_id,
            "units": len(tasks),
            "actor": actor.id,
            "actor_kind": actor.kind,
            "now": now,
        },
    )[0]
    if not is_taken:
        raise SharesBusy
    if written != sum(task.identity is not None for task in tasks):
        raise KeyRace
    return [
        accepted_record(task, place=place, actor=actor, now=now)._replace(
            **head_of(row)
        )
        for task, row in zip(tasks, new, strict=True)
    ]


def accepted_record(
    task: NewTask, *, place: Place, actor: Actor, now: datetime
) -> TaskRecord:
    """The task as it stands right after its acceptance, before its first audit."""
    return TaskRecord(
        id=task.id,
        namespace_id=place.namespace_id,
        application_id=place.application_id,
        queue_id=place.queue_id,
        owner_kind=task.owner_kind,
        owner_id=task.owner_id,
        is_gated=task.is_gated,
        state=State.WAITING,
        revision=1,
        handler=task.handler,
        handler_version=task.handler_version,
        payload_version=task.payload_version,
        payload=task.payload,
        business_key=task.business_key,
        concurrency_key=task.concurrency_key,
        priority=task.priority,
        recovery_safety=task.recovery_safety,
        max_attempts=task.max_attempts,
        initial_delay_ms=task.initial_delay_ms,
        max_delay_ms=task.max_delay_ms,
        attempt_timeout_ms=task.attempt_timeout_ms,
        available_at=task.window.available_at,
        start_deadline_at=task.window.start_deadline_at,
        deadline_at=task.window.deadline_at,
        attempt_count=0,
        lease_attempt_id=None,
        lease_seq=0,
        last_outcome=None,
        effect_uncertain=False,
        cancel_requested_at=None,
        result=None,
        error_code=None,
        error_message=None,
        completed_at=None,
        created_at=now,
        updated_at=now,
        retry_of=task.retry_of,
        submitted_by=actor.id,
        audit_length=0,
        audit_head=GENESIS,
    )


def _first_audit(
    task: NewTask, *, place: Place, actor: Actor, now: datetime
) -> dict[str, Any]:
    audit = Audit(
        id=task.audit_id,
        action="task.accept",
        revision=1,
        after=_after(task),
    )
    return first_link(
        audit, task_id=task.id, namespace_id=place.namespace_id, actor=actor, now=now
    )


def _row(task: NewTask, place: Place, actor: Actor, now: datetime) -> dict[str, Any]:
    identity = task.identity
    return {
        "id": task.id,
        "key_digest": identity and identity.key_digest.hex(),
        "content_digest": identity and identity.content_digest.hex(),
        "receipt_audit_id": task.receipt_audit_id or task.audit_id,
        **_first_audit(task, place=place, actor=actor, now=now),
        "owner_kind": task.owner_kind,
        "owner_id": task.owner_id,
        "is_gated": task.is_gated,
        "handler": task.handler,
        "handler_version": task.handler_version,
        "payload_version": task.payload_version,
        "payload": task.payload,
        "business_key": task.business_key,
        "concurrency_key": task.concurrency_key,
        "priority": task.priority,
        "recovery_safety": task.recovery_safety,
        "max_attempts": task.max_attempts,
        "initial_delay_ms": task.initial_delay_ms,
        "max_delay_ms": task.max_delay_ms,
        "attempt_timeout_ms": task.attempt_timeout_ms,
        "available_at": task.window.available_at,
        "start_deadline_at": task.window.start_deadline_at,
        "deadline_at": task.window.deadline_at,
        "retry_of": task.retry_of,
        "event": _event(task, place, now),
    }


def _after(task: NewTask) -> str:
    after: dict[str, object] = {"state": "WAITING", "revision": "1"}
    if task.retry_of is not None:
        after |= {"retry_of": task.retry_of, "audit_id": task.receipt_audit_id}
    return _encode(after).decode()


def _event(task: NewTask, place: Place, now: datetime) -> str:
    body: dict[str, object] = {
        "kind": "task.accepted",
        "task_id": task.id,
        "queue_id": place.queue_id,
        "state": "WAITING",
        "revision": "1",
        "handler": task.handler,
        "attempt_count": 0,
        "audit_id": task.receipt_audit_id or task.audit_id,
        "occurred_at": now,
    }
    if task.business_key is not None:
        body["business_key"] = task.business_key
    if task.retry_of is not None:
        body["retry_of"] = task.retry_of
    return _encode(body).decode()
