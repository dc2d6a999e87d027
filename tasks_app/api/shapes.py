"""What /v1 answers: the JSON form of tasks, attempts, operations and events."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any
from uuid import UUID

import msgspec

from orbit.errors import Refusal
from orbit.http.envelope import error_of
from orbit.http.problems import status_of
from orbit.outbox.feed import FeedEvent
from tasks_app.actions.claim_tasks import Assignment
from tasks_app.models import Attempt, Evidence, OperationAudit
from tasks_app.models.record import TaskRecord
from tasks_app.models.replay import Answered
from tasks_app.models.review import ProposalRecord, Proposed
from tasks_app.models.slo import QueueInReview, RecoverySLO

Shape = dict[str, Any]

_OPTIONAL = (
    "business_key",
    "concurrency_key",
    "start_deadline_at",
    "cancel_requested_at",
    "completed_at",
    "retry_of",
)


def task_shape(task: TaskRecord) -> Shape:
    """A task in full; payload and result with the digits that came in."""
    shape = _head(task._asdict())
    shape["payload"] = msgspec.Raw(task.payload.encode())
    if task.result is not None:
        shape["result"] = msgspec.Raw(task.result.encode())
    if task.error_code is not None:
        shape["error"] = {"code": task.error_code, "message": task.error_message or ""}
    return shape


def task_summary(columns: Mapping[str, Any]) -> Shape:
    """A task in a list: no payload, no result, no retry_of."""
    shape = _head(columns)
    if columns["error_code"] is not None:
        shape["error"] = {"code": columns["error_code"]}
    return shape


def task_standing(task: TaskRecord) -> Shape:
    """The least a batch answer says of a task."""
    return {"id": task.id, "state": task.state, "revision": str(task.revision)}


def _head(columns: Mapping[str, Any]) -> Shape:
    shape = {
        "id": columns["id"],
        "namespace_id": columns["namespace_id"],
        "queue_id": columns["queue_id"],
        "state": columns["state"],
        "revision": str(columns["revision"]),
        "handler": columns["handler"],
        "handler_version": columns["handler_version"],
        "payload_version": columns["payload_version"],
        "priority": columns["priority"],
        "available_at": columns["available_at"],
        "deadline_at": columns["deadline_at"],
        "recovery_safety": columns["recovery_safety"],
        "retry": {
            "max_attempts": columns["max_attempts"],
            "initial_delay_ms": columns["initial_delay_ms"],
            "max_delay_ms": columns["max_delay_ms"],
            "attempt_timeout_ms": columns["attempt_timeout_ms"],
        },
        "attempt_count": columns["attempt_count"],
        "effect_uncertain": columns["effect_uncertain"],
        "owner": {"kind": columns["owner_kind"]},
        "created_at": columns["created_at"],
        "updated_at": columns["updated_at"],
    }
    if columns["owner_id"] is not None:
        shape["owner"]["id"] = columns["owner_id"]
    if columns["is_gated"]:
        shape["gated"] = True
    for name in _OPTIONAL:
        if columns.get(name) is not None:
            shape[name] = columns[name]
    return shape


def answered_shape(answered: Answered, *, source_id: UUID | None = None) -> Shape:
    """The answer of a recovery write; `source_id` is the task that was retried."""
    shape = {
        "task": task_shape(answered.task),
        "audit_id": answered.audit_id,
        "deduplicated": answered.deduplicated,
    }
    return shape if source_id is None else {"source_task_id": source_id, **shape}


def submitted_shape(answered: Answered) -> Shape:
    """The answer of a submit or cancel."""
    return {
        "task": task_shape(answered.task),
        "deduplicated": answered.deduplicated,
    }


def batch_entry(answer: Answered | Refusal) -> Shape:
    """One entry of a batch of tasks: created, replayed or refused."""
    if isinstance(answer, Refusal):
        return {"status": status_of(answer), "error": error_of(answer)}
    return {
        "status": 200 if answer.deduplicated else 201,
        "task": task_standing(answer.task),
        "deduplicated": answer.deduplicated,
    }


def report_entry(attempt_id: UUID, answer: TaskRecord | Refusal) -> Shape:
    """One entry of a batch of reports."""
    if isinstance(answer, Refusal):
        return {
            "attempt_id": attempt_id,
            "status": status_of(answer),
            "error": error_of(answer),
        }
    return {"attempt_id": attempt_id, "status": 200, "task": task_standing(answer)}


def assignment_shape(assignment: Assignment) -> Shape:
    """One assignment of a claim; the lease token appears here and nowhere else."""
    return {
        "attempt_id": assignment.attempt_id,
        "attempt_number": assignment.attempt_number,
        "lease_token": assignment.lease_token,
        "lease_expires_at": assignment.lease_expires_at,
        "task": task_shape(assignment.task),
    }


def attempt_shape(attempt: Attempt, evidence: list[Evidence]) -> Shape:
    """One attempt with the evidence that arrived after its lease ended."""
    shape: Shape = {
        "id": attempt.id,
        "number": attempt.number,
        "outcome": attempt.outcome,
        "worker": {
            "name": attempt.worker_name,
            "instance_id": attempt.worker_instance_id,
        },
        "started_at": attempt.started_at,
        "lease_expires_at": attempt.lease_expires_at,
        "evidence": [evidence_shape(item) for item in evidence],
    }
    if attempt.heartbeat_at is not None:
        shape["last_heartbeat_at"] = attempt.heartbeat_at
    if attempt.ended_at is not None:
        shape["ended_at"] = attempt.ended_at
    if attempt.error_code is not None:
        shape["error"] = {
            "code": attempt.error_code,
            "message": attempt.error_message or "",
        }
    return shape


def evidence_shape(evidence: Evidence) -> Shape:
    """One late report, word for word."""
    return {
        "id": evidence.id,
        "kind": evidence.kind,
        "content": msgspec.Raw(evidence.content.encode()),
        "received_at": evidence.received_at,
    }


def proposal_shape(proposal: ProposalRecord) -> Shape:
    """A proposed review, and how it stood when it was read."""
    shape: Shape = {
        "id": proposal.id,
        "task_id": proposal.task_id,
        "queue_id": proposal.queue_id,
        "state": proposal.state,
        "expected_revision": str(proposal.revision),
        "outcome": proposal.outcome,
        "result": msgspec.Raw(proposal.result.encode()),
        "reason": proposal.reason,
        "evidence_ref": proposal.evidence_ref,
        "proposed_by": proposal.proposer_id,
        "created_at": proposal.created_at,
        "expires_at": proposal.expires_at,
    }
    if proposal.decided_at is not None:
        shape["decided_by"] = proposal.decided_by
        shape["decided_at"] = proposal.decided_at
    return shape


def proposed_shape(proposed: Proposed) -> Shape:
    """The answer of a proposal or its withdrawal."""
    return {
        "proposal": proposal_shape(proposed.proposal),
        "audit_id": proposed.audit_id,
        "deduplicated": proposed.deduplicated,
    }


def slo_shape(standing: RecoverySLO) -> Shape:
    """How recovery stands; what there is nothing of is left out."""
    needs_review: Shape = {"tasks": standing.needs_review}
    oldest = standing.oldest
    if oldest is not None and oldest.oldest_since is not None:
        needs_review["oldest"] = {
            "task_id": oldest.oldest_task_id,
            "queue_id": oldest.queue_id,
            "since": oldest.oldest_since,
            "age_ms": _milliseconds(standing.measured_at - oldest.oldest_since),
        }
    speed = standing.time_to_settle
    settling: Shape = {"tasks": speed.settled}
    if speed.p50_ms is not None and speed.p95_ms is not None:
        settling |= {"p50_ms": round(speed.p50_ms), "p95_ms": round(speed.p95_ms)}
    queues = standing.queues
    return {
        "measured_at": standing.measured_at,
        "window_hours": standing.window // timedelta(hours=1),
        "needs_review": needs_review,
        "queues": [_held_shape(queue) for queue in queues if queue.held],
        "serial_jobs_blocked": standing.serial_jobs_blocked,
        "inflow": {
            "last_hour": sum(queue.inflow_hour for queue in queues),
            "last_day": sum(queue.inflow_day for queue in queues),
        },
        "settled": {
            "last_hour": sum(queue.settled_hour for queue in queues),
            "last_day": sum(queue.settled_day for queue in queues),
        },
        "time_to_settle": settling,
        "contradictions": {
            "last_hour": standing.contradictions.hour,
            "last_day": standing.contradictions.day,
        },
    }


def _held_shape(queue: QueueInReview) -> Shape:
    return {
        "queue_id": queue.queue_id,
        "name": queue.name,
        "quota_held": queue.held,
        "max_outstanding": queue.max_outstanding,
        "oldest_since": queue.oldest_since,
    }


def _milliseconds(span: timedelta) -> int:
    return span // timedelta(milliseconds=1)


def operation_summary(operation: OperationAudit) -> Shape:
    """One operation in a list (spec, section 4)."""
    return {
        "id": operation.id,
        "task_id": operation.task_id,
        "operation_id": operation.operation_id,
        "actor_id": operation.actor_id,
        "action": operation.action,
        "created_at": operation.created_at,
    }


def operation_shape(operation: OperationAudit) -> Shape:
    """One operation with reason, evidence reference, before and after."""
    shape = operation_summary(operation)
    if operation.reason is not None:
        shape["reason"] = operation.reason
    if operation.evidence_ref is not None:
        shape["evidence_ref"] = operation.evidence_ref
    if operation.approver_id is not None:
        shape["approver_id"] = operation.approver_id
    if operation.before is not None:
        shape["before"] = msgspec.Raw(operation.before.encode())
    shape["after"] = msgspec.Raw(operation.after.encode())
    return shape


def event_shape(event: FeedEvent) -> Shape:
    """One result event; `body` is frozen and the same at every delivery."""
    return {
        "id": event.id,
        "created_at": event.created_at,
        "body": msgspec.Raw(event.payload.encode()),
    }
