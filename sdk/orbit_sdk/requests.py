"""The shapes a caller fills in; UNSET members are left out of the body."""

import datetime as dt
from typing import Literal

import msgspec
from msgspec import UNSET, UnsetType

from orbit_sdk.exact import encode


class RetryPolicy(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How long an attempt may take and how often one is made; milliseconds."""

    attempt_timeout_ms: int
    max_attempts: int | UnsetType = UNSET
    initial_delay_ms: int | UnsetType = UNSET
    max_delay_ms: int | UnsetType = UNSET


class Owner(msgspec.Struct, frozen=True, kw_only=True):
    """Who controls the task; needs the permission tasks:own."""

    kind: Literal["WORKFLOW"]
    id: str


class NewTask(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One task to submit.

    `payload` is any JSON value (see `orbit_sdk.exact.encode`) or a `Json` text,
    at most 256 KiB. `recovery_safety` is RECONCILE_ONLY unless REPLAY_SAFE is
    said. Times are aware datetimes.
    """

    queue_id: str
    handler: str
    handler_version: str
    payload_version: str
    payload: object
    task_timeout_ms: int
    retry: RetryPolicy
    recovery_safety: Literal["RECONCILE_ONLY", "REPLAY_SAFE"] | UnsetType = UNSET
    business_key: str | UnsetType = UNSET
    concurrency_key: str | UnsetType = UNSET
    priority: int | UnsetType = UNSET
    available_at: dt.datetime | UnsetType = UNSET
    start_deadline_at: dt.datetime | UnsetType = UNSET
    owner: Owner | UnsetType = UNSET
    gated: bool | UnsetType = UNSET


class KeyedTask(NewTask, frozen=True, kw_only=True, omit_defaults=True):
    """One task of a batch, with the idempotency key that is its own."""

    idempotency_key: str


class Review(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a reviewer declares about a task in NEEDS_REVIEW.

    `execution_settled` must be True: every earlier execution is known to have
    ended. `result` is any JSON value but null, at most 256 KiB. With the digest of
    the dossier that was read, late evidence since then refuses the review.
    """

    expected_revision: str
    reason: str
    evidence_ref: str
    execution_settled: bool
    outcome: Literal["SUCCEEDED", "FAILED"]
    result: object
    expected_dossier_digest: str | UnsetType = UNSET


class Approval(msgspec.Struct, frozen=True, kw_only=True):
    """Which proposed review is carried out, and the revision that it was read at."""

    proposal_id: str
    expected_revision: str


class Retry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What an operator declares to have a FAILED or CANCELLED task done anew."""

    expected_revision: str
    reason: str
    evidence_ref: str
    safe_to_retry: bool
    task_timeout_ms: int
    available_at: dt.datetime | UnsetType = UNSET
    start_deadline_at: dt.datetime | UnsetType = UNSET


class ReceiptQuestion(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Which write is asked about; `target_id` is a submit's queue, else its task.

    `content_digest` is the SHA-256 (hex) of the canonical JSON of the body.
    """

    operation: Literal["task.submit", "task.cancel", "task.review", "task.retry"]
    target_id: str
    content_digest: str | UnsetType = UNSET


class WorkerIdentity(msgspec.Struct, frozen=True, kw_only=True):
    """A worker's name, and 32 hex digits that name this run of it."""

    name: str
    instance_id: str


class HandlerFilter(msgspec.Struct, frozen=True, kw_only=True):
    """One kind of task that a worker can do."""

    handler: str
    handler_version: str


class Claim(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How many tasks a worker takes, and for how long it holds each."""

    worker: WorkerIdentity
    max_tasks: int
    lease_ms: int
    handlers: tuple[HandlerFilter, ...] | UnsetType = UNSET


class TaskFilter(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Which tasks a list shows; `state` may name several, separated by commas."""

    state: str | UnsetType = UNSET
    queue_id: str | UnsetType = UNSET
    handler: str | UnsetType = UNSET
    business_key: str | UnsetType = UNSET
    created_from: dt.datetime | UnsetType = UNSET
    created_before: dt.datetime | UnsetType = UNSET


class PageRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Items wanted (1 to 100, events 1 to 500), and the last page's `next_cursor`."""

    limit: int | UnsetType = UNSET
    cursor: str | UnsetType = UNSET


class AttemptError(msgspec.Struct, frozen=True, kw_only=True):
    """Why an attempt did not succeed: code 1-100, message at most 2 000."""

    code: str
    message: str


class Report(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What became of one attempt; make one with the function named after its kind."""

    attempt_id: str
    kind: Literal["succeed", "fail", "unknown", "cancelled"]
    lease_token: str
    result: msgspec.Raw | UnsetType = UNSET
    error: AttemptError | UnsetType = UNSET
    retryable: bool | UnsetType = UNSET

    @classmethod
    def succeed(cls, *, attempt_id: str, lease_token: str, result: object) -> "Report":
        return cls(
            attempt_id=attempt_id,
            kind="succeed",
            lease_token=lease_token,
            result=msgspec.Raw(encode(result)),
        )

    @classmethod
    def fail(
        cls, *, attempt_id: str, lease_token: str, error: AttemptError, retryable: bool
    ) -> "Report":
        return cls(
            attempt_id=attempt_id,
            kind="fail",
            lease_token=lease_token,
            error=error,
            retryable=retryable,
        )

    @classmethod
    def unknown(
        cls,
        *,
        attempt_id: str,
        lease_token: str,
        error: AttemptError | UnsetType = UNSET,
    ) -> "Report":
        return cls(
            attempt_id=attempt_id, kind="unknown", lease_token=lease_token, error=error
        )

    @classmethod
    def cancelled(cls, *, attempt_id: str, lease_token: str) -> "Report":
        return cls(attempt_id=attempt_id, kind="cancelled", lease_token=lease_token)

    def __repr__(self) -> str:
        return f"Report(attempt_id={self.attempt_id!r}, kind={self.kind!r})"
