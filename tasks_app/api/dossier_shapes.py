"""The JSON form of previews, dossiers, contradictions, lineages and receipts."""

from collections.abc import Callable
from typing import Any, TypeVar

import msgspec

from orbit.http.envelope import error_of
from orbit.http.problems import status_of
from tasks_app.api.shapes import (
    Shape,
    operation_shape,
    task_standing,
    task_summary,
)
from tasks_app.domain.dossier import excerpt_of
from tasks_app.domain.ownership import WaitingTurn
from tasks_app.models import Attempt, Contradiction, Evidence, Permit
from tasks_app.models.record import TaskRecord
from tasks_app.queries.dossier import Dossier, Shown, ToldEvent
from tasks_app.queries.lineage import Generation, Lineage
from tasks_app.queries.previews import Preview
from tasks_app.queries.receipts import Finding

Item = TypeVar("Item")

_CHILD = (
    "queue_id",
    "handler",
    "handler_version",
    "payload_version",
    "priority",
    "recovery_safety",
    "retry",
    "retry_of",
    "available_at",
    "deadline_at",
    "start_deadline_at",
    "business_key",
    "concurrency_key",
)


def preview_shape(preview: Preview) -> Shape:
    """Allowed with what would happen, or the refusal to come."""
    standing = task_standing(preview.task)
    if preview.refusal is not None:
        refusal = {"status": status_of(preview.refusal), **error_of(preview.refusal)}
        return {"allowed": False, "task": standing, "refusal": refusal}
    foretold = preview.foretold
    if foretold is None:
        raise ValueError("A preview foretells or refuses.")
    return {
        "allowed": True,
        "task": standing,
        "before": msgspec.Raw(foretold.before.encode()),
        "after": msgspec.Raw(foretold.after.encode()),
        "effects": [effect._asdict() for effect in foretold.effects],
        "quota": {
            "would_fit": foretold.room.would_fit,
            "available": foretold.room._asdict(),
        },
        "moves_on": [waiting_shape(turn) for turn in foretold.moves_on],
        **({} if foretold.task.id == preview.task.id else _child(foretold.task)),
    }


def _child(task: TaskRecord) -> Shape:
    head = {**task_summary(task._asdict()), "retry_of": task.retry_of}
    return {"child": {name: head[name] for name in _CHILD if name in head}}


def waiting_shape(turn: WaitingTurn) -> Shape:
    """An execution that waits for the task."""
    shape: Shape = {
        "job_id": turn.job_id,
        "job_name": turn.job_name,
        "execution_id": turn.owner_id,
        "goes_on": turn.goes_on,
    }
    return _with(shape, task_id=turn.task_id)


def dossier_shape(dossier: Dossier, *, shows_content: bool) -> Shape:
    """The whole dossier; excerpts only if `shows_content`."""
    return {
        "dossier_digest": dossier.grounds.digest,
        "task": _task(dossier.task, shows_content=shows_content),
        "attempts": [_attempt(attempt) for attempt in dossier.attempts],
        "permits": [_permit(permit) for permit in dossier.permits],
        "evidence": _shown(
            dossier.evidence, lambda it: _evidence(it, shows_content=shows_content)
        ),
        "contradictions": _shown(dossier.contradictions, contradiction_shape),
        "events": _shown(dossier.events, _event),
        "operations": _shown(dossier.operations, operation_shape),
        "lineage": lineage_shape(dossier.lineage),
        "owner": _with(
            {
                "agrees": dossier.owner_refusal is None,
                "waiting": [waiting_shape(turn) for turn in dossier.waiting],
            },
            refusal=dossier.owner_refusal,
        ),
    }


def _shown(shown: Shown[Item], shape: Callable[[Item], Shape]) -> Shape:
    return {"items": [shape(it) for it in shown.items], "has_more": shown.has_more}


def _task(task: TaskRecord, *, shows_content: bool) -> Shape:
    shape = task_summary(task._asdict())
    shape["payload"] = excerpt_shape(task.payload, shows_content=shows_content)
    if task.result is not None:
        shape["result"] = excerpt_shape(task.result, shows_content=shows_content)
    if task.error_code is not None:
        shape["error"] = {"code": task.error_code, "message": task.error_message or ""}
    return shape


def excerpt_shape(text: str, *, shows_content: bool) -> Shape:
    """Digest and size of a JSON text, and its beginning if `shows_content`."""
    excerpt = excerpt_of(text)
    shape: Shape = {"digest": excerpt.digest, "bytes": excerpt.size_bytes}
    if shows_content:
        shape |= {"is_whole": excerpt.is_whole, "excerpt": excerpt.text}
    return shape


def _attempt(attempt: Attempt) -> Shape:
    lease = {
        "fence": str(attempt.lease_seq),
        "lease_ms": attempt.lease_ms,
        "started_at": attempt.started_at,
        "expires_at": attempt.lease_expires_at,
        "not_beyond": attempt.expires_by,
    }
    shape: Shape = {
        "id": attempt.id,
        "number": attempt.number,
        "outcome": attempt.outcome,
        "worker": {
            "name": attempt.worker_name,
            "instance_id": attempt.worker_instance_id,
        },
        "actor_id": attempt.worker_id,
        "lease": _with(
            lease, last_heartbeat_at=attempt.heartbeat_at, ended_at=attempt.ended_at
        ),
    }
    if attempt.error_code is not None:
        message = attempt.error_message or ""
        shape["error"] = {"code": attempt.error_code, "message": message}
    return shape


def _permit(permit: Permit) -> Shape:
    shape: Shape = {
        "kind": permit.kind,
        "attempt_id": permit.attempt_id,
        "acquired_at": permit.acquired_at,
    }
    return _with(shape, concurrency_key=permit.concurrency_key)


def _evidence(evidence: Evidence, *, shows_content: bool) -> Shape:
    return {
        "id": evidence.id,
        "attempt_id": evidence.attempt_id,
        "kind": evidence.kind,
        "received_at": evidence.received_at,
        "content": excerpt_shape(evidence.content, shows_content=shows_content),
    }


def contradiction_shape(contradiction: Contradiction) -> Shape:
    """A contradiction as lists and dossiers show it."""
    shape: Shape = {
        "id": contradiction.id,
        "task_id": contradiction.task_id,
        "queue_id": contradiction.queue_id,
        "attempt_id": contradiction.attempt_id,
        "evidence_id": contradiction.evidence_id,
        "audit_id": contradiction.audit_id,
        "revision": str(contradiction.revision),
        "disagreement": contradiction.kind,
        "declared": contradiction.declared,
        "claimed": contradiction.claimed,
        "created_at": contradiction.created_at,
    }
    return _with(
        shape,
        declared_digest=_hex(contradiction.declared_digest),
        claimed_digest=_hex(contradiction.claimed_digest),
    )


def _hex(stored: Any) -> str | None:  # noqa: ANN401 - a driver's buffer
    return None if stored is None else bytes(stored).hex()


def _event(event: ToldEvent) -> Shape:
    return {
        "id": str(event.id),
        "created_at": event.created_at,
        "body": msgspec.Raw(event.payload.encode()),
    }


def lineage_shape(lineage: Lineage) -> Shape:
    """The chain, root to tip."""
    return {
        "items": [_generation(entry) for entry in lineage.generations],
        "has_earlier": lineage.has_earlier,
        "has_later": lineage.has_later,
    }


def _generation(entry: Generation) -> Shape:
    shape: Shape = {
        "id": entry.id,
        "step": entry.step,
        "state": entry.state,
        "revision": str(entry.revision),
        "attempt_count": entry.attempt_count,
        "created_at": entry.created_at,
        "handler": entry.handler,
        "handler_version": entry.handler_version,
        "payload_digest": entry.payload_digest,
        "payload_bytes": entry.payload_bytes,
        "changes": [change._asdict() for change in entry.changes],
        "payload_paths": list(entry.payload_paths),
    }
    if entry.error_code is not None:
        shape["error"] = {"code": entry.error_code}
    return _with(shape, completed_at=entry.completed_at)


def finding_shape(finding: Finding) -> Shape:
    """What a key did, and where to find it."""
    shape: Shape = {
        "verdict": finding.verdict,
        "content_compared": finding.is_content_compared,
    }
    receipt = finding.receipt
    if receipt is None:
        return shape
    return {
        **shape,
        "task_id": receipt.task_id,
        "audit_id": receipt.audit_id,
        "state": receipt.state,
        "revision": str(receipt.revision),
        "committed_at": receipt.created_at,
    }


def _with(shape: Shape, **members: object) -> Shape:
    """The shape with those members that there are."""
    return {**shape, **{name: it for name, it in members.items() if it is not None}}
