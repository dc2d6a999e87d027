"""The refusals of the task API (20-recovery-api section 5)."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from orbit.errors import Conflict, Forbidden, Invalid, NotFound, TooMany
from tasks_app.domain.lifecycle import State


class TaskNotFound(NotFound):
    """No such task, or it belongs to another namespace or queue range."""

    def __init__(self) -> None:
        super().__init__(
            "There is no such task within this token's namespace and queues."
        )


class QueueNotFound(NotFound):
    """No such queue, or it is outside the caller's range."""

    def __init__(self) -> None:
        super().__init__(
            "There is no such queue within this token's namespace and queues."
        )


class AttemptNotFound(NotFound):
    """No such attempt, or it is outside the caller's range."""

    def __init__(self) -> None:
        super().__init__("There is no such attempt within this token's queues.")


class OperationNotFound(NotFound):
    """The task has no such operation."""

    def __init__(self) -> None:
        super().__init__("This task has no operation with that id.")


class InvalidField(Invalid):
    """A field breaks a rule; nothing of the task was touched."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message, field=field)


class MissingScope(Forbidden):
    """The credential lacks the permission."""

    def __init__(self, scope: str) -> None:
        super().__init__(
            f"This token lacks the permission {scope}. Ask an administrator for a "
            "token that has it.",
            details={"required_permission": scope},
        )


class StateConflict(Conflict):
    """State, revision, owner, gate, lease or permit forbids it.

    `details` carry `reason`, the present `state` and `revision`, and where there are
    any the winning `audit_id`, its time `settled_at`, and `successor_task_id`.
    """

    def __init__(
        self,
        reason: str,
        message: str,
        *,
        state: State,
        revision: int,
        audit: tuple[UUID, datetime] | None = None,
        successor_id: UUID | None = None,
    ) -> None:
        details: dict[str, Any] = {
            "reason": reason,
            "state": state,
            "revision": str(revision),
        }
        if audit is not None:
            details["audit_id"], details["settled_at"] = audit
        if successor_id is not None:
            details["successor_task_id"] = successor_id
        super().__init__(message, details=details)


class NewEvidence(NamedTuple):
    """What is told of a late report that a reviewer had not seen."""

    id: UUID
    attempt_id: UUID
    kind: str
    received_at: datetime


class DossierChanged(StateConflict):
    """The decision was made on a dossier that is not the present one.

    `details` carry the present `dossier_digest`, and as `new_evidence` what arrived
    since. `new_evidence_count` is left out when the digest that was sent is none of
    this revision's: then the newest evidence is listed.
    """

    def __init__(
        self,
        *,
        state: State,
        revision: int,
        digest: str,
        new: int | None,
        evidence: Sequence[NewEvidence],
    ) -> None:
        super().__init__(
            "DOSSIER_CHANGED",
            "This is not the dossier that you decided on. Nothing was written: read "
            "the dossier again and decide anew."
            if new is None
            else f"{new} late reports have arrived since you read the dossier. Nothing "
            "was written: read it again and decide anew.",
            state=state,
            revision=revision,
        )
        self.details["dossier_digest"] = digest
        self.details["new_evidence"] = [entry._asdict() for entry in evidence]
        if new is not None:
            self.details["new_evidence_count"] = new


class LeaseConflict(Conflict):
    """The lease is no longer the current one; the report was kept as evidence."""

    def __init__(
        self, message: str, *, state: State, revision: int, reason: str = "LEASE"
    ) -> None:
        super().__init__(
            message,
            details={"reason": reason, "state": state, "revision": str(revision)},
        )


class IdempotencyConflict(Conflict):
    """The key was used for the same operation with other content."""

    code = "IDEMPOTENCY_CONFLICT"

    def __init__(self) -> None:
        super().__init__(
            "This Idempotency-Key was used with other content. Compare with the "
            "request you stored; use a new key only for a new intention."
        )


class QueueFull(TooMany):
    """The queue's max_outstanding is reached; nothing was created."""

    code = "QUEUE_FULL"

    def __init__(self, *, retry_after_ms: int = 1_000) -> None:
        super().__init__(
            "The queue is full. Send the same request with the same key later.",
            details={"retry_after_ms": retry_after_ms},
        )


class ApplicationFull(TooMany):
    """The application's max_outstanding is reached; nothing was created."""

    code = "APPLICATION_FULL"

    def __init__(self, *, retry_after_ms: int = 1_000) -> None:
        super().__init__(
            "The application is full. Send the same request with the same key later.",
            details={"retry_after_ms": retry_after_ms},
        )


class ApplicationDisabled(Forbidden):
    """The application that owns the queue is disabled."""

    def __init__(self) -> None:
        super().__init__(
            "The application of this queue is disabled. Ask an administrator to enable "
            "it; the same key may be used then."
        )


class ReviewNotAllowed(Forbidden):
    """The queue wants another person for this; `details` carry the reason."""

    code = "REVIEW_NOT_ALLOWED"

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message, details={"reason": reason})


class ProposalNotFound(NotFound):
    """The task has no such proposed review."""

    def __init__(self) -> None:
        super().__init__("This task has no proposed review with that id.")
