"""Decided moves, written together: the only way a task's later states come about."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec

from orbit.ids import new_id
from orbit.transactions import require_transaction
from tasks_app.domain.access import Actor
from tasks_app.domain.lifecycle import Move, State
from tasks_app.models.chain import Audit, head_of, next_link
from tasks_app.models.record import TaskRecord
from tasks_app.models.settlement import warn_owners
from tasks_app.models.statements.move import MOVE
from tasks_app.models.statements.quota import SharesBusy, lock_own_shares
from tasks_app.models.statements.run import as_json, rows

MAX_RESULT_IN_EVENT = 4_096

EVENT_KINDS = {
    State.NEEDS_REVIEW: "task.needs_review",
    State.SUCCEEDED: "task.succeeded",
    State.FAILED: "task.failed",
    State.CANCELLED: "task.cancelled",
}

_encode = msgspec.json.Encoder(uuid_format="hex").encode


class StaleGuard(Exception):
    """A guarded write met another picture than it was decided on; nothing is kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceiptRow:
    """The key and content digests (hex) of an idempotent write."""

    operation: str
    key_digest: str
    content_digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Transition:
    """One move of one locked task, with what its audit and event shall say."""

    task: TaskRecord
    move: Move
    action: str
    attempt_id: UUID | None = None
    report_digest: str | None = None
    reason: str | None = None
    evidence_ref: str | None = None
    after: Mapping[str, object] = field(default_factory=dict)
    receipt: ReceiptRow | None = None
    approver: Actor | None = None
    audit_id: UUID = field(default_factory=new_id)


def write_transitions(
    transitions: Sequence[Transition],
    *,
    actor: Actor,
    now: datetime,
    is_patient: bool,
) -> list[TaskRecord]:
    """Write every move with its attempt, permits, quota, receipt, audit and event.

    The tasks must be locked by the caller's transaction. Answers the tasks as they
    stand afterwards. Raises SharesBusy when quota cannot be given back without
    waiting, and StaleGuard when a task is not as it was read.
    """
    require_transaction()
    final = [entry.task for entry in transitions if entry.move.is_final]
    warn_owners(final)
    if is_patient:
        lock_own_shares(
            applications=(task.application_id for task in final),
            queues=(task.queue_id for task in final),
        )
    receipts = [_receipt(entry) for entry in transitions if entry.receipt is not None]
    moves = [_row(entry, actor, now) for entry in transitions]
    is_given, moved = rows(
        MOVE,
        {
            "moves": as_json(moves),
            "receipts": as_json(receipts),
            "actor": actor.id,
            "actor_kind": actor.kind,
            "now": now,
        },
    )[0]
    if moved != len(transitions):
        raise StaleGuard
    if not is_given:
        raise SharesBusy
    return [
        _moved(entry.task, entry.move, now)._replace(**head_of(row))
        for entry, row in zip(transitions, moves, strict=True)
    ]


def _row(entry: Transition, actor: Actor, now: datetime) -> dict[str, Any]:
    task, move = entry.task, entry.move
    audit = Audit(
        id=entry.audit_id,
        action=entry.action,
        revision=task.revision + 1,
        reason=entry.reason,
        evidence_ref=entry.evidence_ref,
        before=picture(task.state, task.revision),
        after=picture(move.to, task.revision + 1, **entry.after),
        approver=entry.approver,
    )
    failure = move.failure
    kind = EVENT_KINDS.get(move.to)
    return {
        "task_id": task.id,
        "from_state": task.state,
        "revision": task.revision,
        "lease_seq": task.lease_seq,
        "state": move.to,
        "is_final": move.is_final,
        "outcome": move.outcome,
        "attempt_id": entry.attempt_id,
        "report_digest": entry.report_digest,
        "result": move.result,
        "error_code": failure and failure.code,
        "error_message": failure and failure.message,
        "due_at": move.due_at,
        **next_link(audit, task=task, actor=actor, now=now),
        "event_kind": kind,
        "event": kind and _event(entry, kind, now),
    }


def picture(state: str, revision: int, **more: object) -> str:
    """The JSON text that an audit keeps of a task before or after an operation."""
    return _encode({"state": state, "revision": str(revision), **more}).decode()


def _event(entry: Transition, kind: str, now: datetime) -> str:
    task, move = entry.task, entry.move
    body: dict[str, object] = {
        "kind": kind,
        "task_id": task.id,
        "queue_id": task.queue_id,
        "state": move.to,
        "revision": str(task.revision + 1),
        "handler": task.handler,
        "attempt_count": task.attempt_count,
        "audit_id": entry.audit_id,
        "occurred_at": now,
    }
    if task.business_key is not None:
        body["business_key"] = task.business_key
    if move.failure is not None:
        body["error_code"] = move.failure.code
    if move.result is not None:
        _attach_result(body, move.result)
    return _encode(body).decode()


def _attach_result(body: dict[str, object], result: str) -> None:
    raw = result.encode()
    if len(raw) <= MAX_RESULT_IN_EVENT:
        body["result"] = msgspec.Raw(raw)
    else:
        body["result_bytes"] = len(raw)


def _receipt(entry: Transition) -> dict[str, Any]:
    receipt = entry.receipt
    if receipt is None:
        raise ValueError("This transition has no receipt.")
    return {
        "task_id": entry.task.id,
        "operation": receipt.operation,
        "key_digest": receipt.key_digest,
        "content_digest": receipt.content_digest,
        "audit_id": entry.audit_id,
        "state": entry.move.to,
        "attempt_count": entry.task.attempt_count,
    }


def _moved(task: TaskRecord, move: Move, now: datetime) -> TaskRecord:
    return task._replace(
        state=move.to,
        revision=task.revision + 1,
        effect_uncertain=move.to is State.NEEDS_REVIEW,
        lease_attempt_id=None,
        last_outcome=move.outcome or task.last_outcome,
        result=move.result,
        error_code=move.failure.code if move.failure else None,
        error_message=move.failure.message if move.failure else None,
        completed_at=now if move.is_final else None,
        updated_at=now,
    )
