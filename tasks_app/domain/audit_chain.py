"""The form in which an operation audit is hashed: orbit-audit-1.

An entry's hash is the SHA-256 of JSON text: the members below with their keys in order,
no white space, UTF-8, and only those escapes that JSON demands. Numbers are written as
strings, ids and hashes as lower-case hex, times in UTC with six digits of a second.
`before` and `after` are strings too, so not one digit of a number in them can change.
"""

import hashlib
from datetime import UTC, datetime
from typing import NamedTuple
from uuid import UUID

import msgspec

FORMAT = "orbit-audit-1"
# What the first entry of a task names as the hash before it.
GENESIS = bytes(32)

_encode = msgspec.json.Encoder(uuid_format="hex").encode


class AuditEntry(NamedTuple):
    """Every column of an operation audit but the hash itself; ids as UUID or hex."""

    task_id: UUID
    sequence: int
    id: UUID | str
    namespace_id: UUID
    operation_id: UUID | str
    actor_id: UUID
    actor_kind: str
    action: str
    revision: int
    reason: str | None
    evidence_ref: str | None
    before: str | None
    after: str
    created_at: datetime
    approver_id: UUID | None
    approver_kind: str | None
    previous_hash: bytes


def canonical_text(entry: AuditEntry) -> bytes:
    """The text that is hashed."""
    return _encode(
        {
            "action": entry.action,
            "actor_id": entry.actor_id,
            "actor_kind": entry.actor_kind,
            "after": entry.after,
            "approver_id": entry.approver_id,
            "approver_kind": entry.approver_kind,
            "before": entry.before,
            "created_at": moment(entry.created_at),
            "evidence_ref": entry.evidence_ref,
            "format": FORMAT,
            "id": entry.id,
            "namespace_id": entry.namespace_id,
            "operation_id": entry.operation_id,
            "previous_hash": entry.previous_hash.hex(),
            "reason": entry.reason,
            "revision": str(entry.revision),
            "sequence": str(entry.sequence),
            "task_id": entry.task_id,
        }
    )


def entry_hash(entry: AuditEntry) -> bytes:
    """What the entry's own hash and the next one's previous_hash must be."""
    return hashlib.sha256(canonical_text(entry)).digest()


def moment(at: datetime) -> str:
    """The time as it is hashed and exported: UTC, always six digits."""
    return at.astimezone(UTC).replace(tzinfo=None).isoformat("T", "microseconds") + "Z"
