"""The next link of a task's audit chain, computed under the task's lock."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from orbit.ids import new_hex_id
from tasks_app.domain.access import Actor
from tasks_app.domain.audit_chain import GENESIS, AuditEntry, entry_hash
from tasks_app.models.record import TaskRecord


# Not frozen: rows are made in bulk, and freezing doubles what one costs.
@dataclass(slots=True, kw_only=True)
class Audit:
    """What an act writes of itself; `before` and `after` are JSON text."""

    action: str
    revision: int
    after: str
    before: str | None = None
    reason: str | None = None
    evidence_ref: str | None = None
    approver: Actor | None = None
    id: UUID | str = field(default_factory=new_hex_id)
    operation_id: str = field(default_factory=new_hex_id)


def first_link(
    audit: Audit, *, task_id: UUID, namespace_id: UUID, actor: Actor, now: datetime
) -> dict[str, Any]:
    """The columns of a new task's first audit."""
    return _row(
        audit,
        place=(task_id, namespace_id),
        after_link=(0, GENESIS),
        actor=actor,
        now=now,
    )


def next_link(
    audit: Audit, *, task: TaskRecord, actor: Actor, now: datetime
) -> dict[str, Any]:
    """The columns of the audit that follows the last one of `task`; hashes are hex.

    `task` must be as it stands under its lock, and is linked to once: the statement
    that writes the audit moves the head on the task's row too.
    """
    return _row(
        audit,
        place=(task.id, task.namespace_id),
        after_link=(task.audit_length, task.audit_head),
        actor=actor,
        now=now,
    )


def head_of(row: dict[str, Any]) -> dict[str, Any]:
    """The head that the audit in `row` leaves on its task."""
    return {
        "audit_length": row["sequence"],
        "audit_head": bytes.fromhex(row["entry_hash"]),
    }


def _row(
    audit: Audit,
    *,
    place: tuple[UUID, UUID],
    after_link: tuple[int, bytes],
    actor: Actor,
    now: datetime,
) -> dict[str, Any]:
    task_id, namespace_id = place
    length, head = after_link
    approver = audit.approver
    entry = AuditEntry(
        task_id=task_id,
        sequence=length + 1,
        id=audit.id,
        namespace_id=namespace_id,
        operation_id=audit.operation_id,
        actor_id=actor.id,
        actor_kind=actor.kind,
        action=audit.action,
        revision=audit.revision,
        reason=audit.reason,
        evidence_ref=audit.evidence_ref,
        before=audit.before,
        after=audit.after,
        created_at=now,
        approver_id=approver.id if approver else None,
        approver_kind=approver.kind if approver else None,
        previous_hash=head,
    )
    return {
        "audit_id": entry.id,
        "operation_id": entry.operation_id,
        "action": entry.action,
        "reason": entry.reason,
        "evidence_ref": entry.evidence_ref,
        "before": entry.before,
        "after": entry.after,
        "approver_id": entry.approver_id,
        "approver_kind": entry.approver_kind,
        "sequence": entry.sequence,
        "previous_hash": head.hex(),
        "entry_hash": entry_hash(entry).hex(),
    }
