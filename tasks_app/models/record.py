"""The columns of a task that leave the engine, in one order."""

from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from tasks_app.domain.lifecycle import (
    Outcome,
    OwnerKind,
    RecoverySafety,
    Standing,
    State,
)
from tasks_app.domain.retry_policy import RetryPolicy


class TaskRecord(NamedTuple):
    """One task as it was read; payload and result are exact JSON text."""

    id: UUID
    namespace_id: UUID
    application_id: UUID
    queue_id: UUID
    owner_kind: str
    owner_id: UUID | None
    is_gated: bool
    state: str
    revision: int
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
    available_at: datetime
    start_deadline_at: datetime | None
    deadline_at: datetime
    attempt_count: int
    lease_attempt_id: UUID | None
    lease_seq: int
    last_outcome: str | None
    effect_uncertain: bool
    cancel_requested_at: datetime | None
    result: str | None
    error_code: str | None
    error_message: str | None
    completed_at: datetime | None
    created_at: datetime
    updated_at: datetime
    retry_of: UUID | None
    submitted_by: UUID
    audit_length: int
    audit_head: bytes

    @property
    def standing(self) -> Standing:
        """What a decision needs to know of it."""
        return Standing(
            state=State(self.state),
            recovery_safety=RecoverySafety(self.recovery_safety),
            retry=RetryPolicy(
                max_attempts=self.max_attempts,
                initial_delay_ms=self.initial_delay_ms,
                max_delay_ms=self.max_delay_ms,
                attempt_timeout_ms=self.attempt_timeout_ms,
            ),
            attempt_count=self.attempt_count,
            deadline_at=self.deadline_at,
            last_outcome=None
            if self.last_outcome is None
            else Outcome(self.last_outcome),
            cancel_requested=self.cancel_requested_at is not None,
        )

    @property
    def owner(self) -> OwnerKind:
        """Who recovers it."""
        return OwnerKind(self.owner_kind)

    def as_of(
        self, *, state: str, revision: int, attempt_count: int, updated_at: datetime
    ) -> "TaskRecord":
        """The task as a receipt remembers it: what came later is left out."""
        asked_at = self.cancel_requested_at
        then = self._replace(
            state=state,
            revision=revision,
            attempt_count=attempt_count,
            updated_at=updated_at,
            effect_uncertain=state == State.NEEDS_REVIEW,
            cancel_requested_at=asked_at
            if asked_at is not None and asked_at <= updated_at
            else None,
        )
        if revision == self.revision:
            return then
        return then._replace(
            # Only a running task is asked to stop; one that waits anew still knows it.
            cancel_requested_at=None if revision == 1 else self.cancel_requested_at,
            effect_uncertain=state == State.NEEDS_REVIEW,
            result=None,
            error_code=None,
            error_message=None,
            completed_at=None,
        )


TASK_COLUMNS = ", ".join(f"t.{name}" for name in TaskRecord._fields)
SUMMARY_FIELDS = tuple(
    name
    for name in TaskRecord._fields
    if name
    not in {
        "payload",
        "result",
        "error_message",
        "retry_of",
        "audit_length",
        "audit_head",
    }
)


def task_from(row: tuple[Any, ...], *, offset: int = 0) -> TaskRecord:
    """The record in `row`, whose task columns begin at `offset`."""
    return TaskRecord._make(row[offset : offset + len(TaskRecord._fields)])
