"""Lease due tasks of a queue to a worker."""

import hashlib
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import transaction
from msgspec import UNSET

from orbit.ids import new_id
from tasks_app.domain.access import Actor, Reach
from tasks_app.domain.commands import ClaimTasks
from tasks_app.domain.errors import QueueNotFound
from tasks_app.domain.lifecycle import State
from tasks_app.domain.throttle import Bucket, Limits, Room
from tasks_app.models.chain import Audit, next_link
from tasks_app.models.record import TaskRecord, task_from
from tasks_app.models.statements.run import as_json, rows
from tasks_app.models.statements.start import (
    CANDIDATE,
    CANDIDATES,
    COUNT_HOLDERS,
    GATE,
    GATE_OF_TASK,
    LOCK_THROTTLE,
    SPEND,
    START,
)
from tasks_app.models.transition import picture


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """One leased task; the token is known to its worker only."""

    task: TaskRecord
    attempt_id: UUID
    attempt_number: int
    lease_token: str
    lease_expires_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class _Gate:
    queue_id: UUID
    limits: Limits
    lease_ms: int
    now: datetime
    version: str


def claim_tasks(
    command: ClaimTasks,
    *,
    queue_id: UUID | None,
    actor: Actor,
    reach: Reach,
    task_id: UUID | None = None,
) -> list[Assignment]:
    """Up to `max_tasks` assignments: higher priority first, then longest due, then id.

    With `task_id` only that task, whoever owns it; else none that a schedule owns.
    Without `queue_id` the queue is that of the task.

    Never waits for a lock: what somebody else holds is passed over, and a limited
    queue that is being claimed right now answers nothing. Raises QueueNotFound.
    """
    with transaction.atomic(durable=True):
        gate = _pass_gate(command, queue_id=queue_id, task_id=task_id, reach=reach)
        if gate is None:
            return []
        room: Room[TaskRecord] = Room(
            tasks=command.max_tasks, held_keys={}, limits=gate.limits
        )
        bucket = None
        if gate.limits.any:
            bucket = _lock_bucket(gate)
            if bucket is None:
                return []
            room = _room(command, gate=gate, bucket=bucket)
        tasks = room.fit(_candidates(command, task_id=task_id, gate=gate, room=room))
        if not tasks:
            return []
        if bucket is not None:
            left = bucket.after(len(tasks))
            spent = {"queue": gate.queue_id, "tokens": left.tokens, "now": gate.now}
            rows(SPEND, spent)
        return _start(tasks, command=command, actor=actor, gate=gate)


def _pass_gate(
    command: ClaimTasks, *, queue_id: UUID | None, task_id: UUID | None, reach: Reach
) -> _Gate | None:
    statement = GATE_OF_TASK if queue_id is None else GATE
    found = rows(statement, {"queue": queue_id, "task": task_id})
    if not found or not reach.covers(namespace_id=found[0][1], queue_id=found[0][0]):
        raise QueueNotFound
    queue, _, *settings, is_open, now, version = found[0]
    is_shut, slots, rate, per_key, lease_ms = settings
    if is_shut or not is_open:
        return None
    return _Gate(
        queue_id=queue,
        limits=Limits(slots=slots, rate_per_second=rate, per_key=per_key),
        lease_ms=lease_ms if command.lease_ms is UNSET else command.lease_ms,
        now=now,
        version=version,
    )


def _lock_bucket(gate: _Gate) -> Bucket | None:
    found = rows(LOCK_THROTTLE, {"queue": gate.queue_id})
    if not found:
        return None
    tokens, refilled_at = found[0]
    return Bucket(tokens=tokens, refilled_at=refilled_at).refilled(
        limits=gate.limits, now=gate.now
    )


def _room(command: ClaimTasks, *, gate: _Gate, bucket: Bucket) -> Room[TaskRecord]:
    slots_held = 0
    keys: dict[str, int] = {}
    for kind, key, count in rows(COUNT_HOLDERS, {"queue": gate.queue_id}):
        if kind == "QUEUE":
            slots_held = count
        else:
            keys[key] = count
    return Room(
        tasks=gate.limits.room(
            wanted=command.max_tasks, slots_held=slots_held, bucket=bucket
        ),
        held_keys=keys,
        limits=gate.limits,
    )


def _candidates(
    command: ClaimTasks, *, task_id: UUID | None, gate: _Gate, room: Room[TaskRecord]
) -> list[TaskRecord]:
    if room.tasks <= 0:
        return []
    handlers = None
    if command.handlers is not UNSET:
        handlers = as_json(command.handlers)
    return [
        task_from(row)
        for row in rows(
            CANDIDATES if task_id is None else CANDIDATE,
            {
                "queue": gate.queue_id,
                "task": task_id,
                "now": gate.now,
                "version": gate.version,
                "handlers": handlers,
                "busy_keys": as_json(room.busy_keys) if room.busy_keys else None,
                "limit": room.window,
            },
        )
    ]


def _start(
    tasks: list[TaskRecord],
    *,
    command: ClaimTasks,
    actor: Actor,
    gate: _Gate,
) -> list[Assignment]:
    assignments = [_assign(task, gate=gate) for task in tasks]
    rows(
        START,
        {
            "attempts": as_json([_row(entry, gate, actor) for entry in assignments]),
            "queue": gate.queue_id,
            "lease_ms": gate.lease_ms,
            "worker_name": command.worker.name,
            "worker_instance": command.worker.instance_id,
            "actor": actor.id,
            "actor_kind": actor.kind,
            "now": gate.now,
        },
    )
    return assignments


def _expires_by(task: TaskRecord, now: datetime) -> datetime:
    timeout = timedelta(milliseconds=task.attempt_timeout_ms)
    return min(now + timeout, task.deadline_at)


def _assign(task: TaskRecord, *, gate: _Gate) -> Assignment:
    attempt_id = new_id()
    lease = timedelta(milliseconds=gate.lease_ms)
    return Assignment(
        task=task._replace(
            state=State.RUNNING,
            revision=task.revision + 1,
            attempt_count=task.attempt_count + 1,
            lease_seq=task.lease_seq + 1,
            lease_attempt_id=attempt_id,
            updated_at=gate.now,
        ),
        attempt_id=attempt_id,
        attempt_number=task.attempt_count + 1,
        lease_token=secrets.token_urlsafe(24),
        lease_expires_at=min(gate.now + lease, _expires_by(task, gate.now)),
    )


def _row(entry: Assignment, gate: _Gate, actor: Actor) -> dict[str, Any]:
    task = entry.task
    audit = Audit(
        action="task.start",
        revision=task.revision,
        before=picture(State.WAITING, task.revision - 1),
        after=picture(
            State.RUNNING,
            task.revision,
            attempt_id=entry.attempt_id,
            attempt_number=entry.attempt_number,
        ),
    )
    return {
        "task_id": task.id,
        "from_revision": task.revision - 1,
        "attempt_id": entry.attempt_id,
        "token_hash": hashlib.sha256(entry.lease_token.encode()).hexdigest(),
        "lease_expires_at": entry.lease_expires_at,
        "expires_by": _expires_by(task, gate.now),
        "takes_slot": gate.limits.slots is not None,
        "takes_key": gate.limits.per_key is not None
        and task.concurrency_key is not None,
        **next_link(audit, task=task, actor=actor, now=gate.now),
    }
