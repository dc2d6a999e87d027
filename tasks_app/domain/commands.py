"""What a caller may ask of the engine: the shapes of requests and their limits.

They are decoded from exact JSON as they stand; unknown members are refused.
"""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Raw, Struct

MAX_PAYLOAD_BYTES = 256 * 1024
MAX_RESULT_BYTES = 256 * 1024
MAX_BATCH_TASKS = 500
MAX_BATCH_REPORTS = 100
MAX_TASK_TIMEOUT_MS = 2_592_000_000

Hex32 = Annotated[str, Meta(pattern=r"^[0-9a-f]{32}(?![\s\S])")]
Revision = Annotated[str, Meta(pattern=r"^[1-9][0-9]{0,17}(?![\s\S])")]
Version = Annotated[str, Meta(min_length=1, max_length=64)]
HandlerName = Annotated[str, Meta(min_length=1, max_length=200)]
Key = Annotated[str, Meta(min_length=1, max_length=512)]
DelayMs = Annotated[int, Meta(ge=0, le=MAX_TASK_TIMEOUT_MS)]
TimeoutMs = Annotated[int, Meta(ge=1, le=MAX_TASK_TIMEOUT_MS)]
LeaseToken = Annotated[str, Meta(min_length=1, max_length=128)]
Reason = Annotated[str, Meta(min_length=1, max_length=1024)]
Digest = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}(?![\s\S])")]
EvidenceRef = Annotated[str, Meta(min_length=1, max_length=512)]


class Command(Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """The root of all request shapes."""


class RetryPolicyIn(Command, frozen=True, kw_only=True):
    """The retry policy of a new task, frozen at acceptance; times in milliseconds."""

    max_attempts: Annotated[int, Meta(ge=1, le=100)] = 1
    initial_delay_ms: DelayMs = 0
    max_delay_ms: DelayMs = 0
    attempt_timeout_ms: TimeoutMs


class OwnerIn(Command, frozen=True, kw_only=True):
    """The workflow that owns a task; only with permission tasks:own."""

    kind: Literal["WORKFLOW"]
    id: Hex32


class SubmitTask(Command, frozen=True, kw_only=True):
    """A new task (POST /v1/tasks)."""

    queue_id: Hex32
    handler: HandlerName
    handler_version: Version
    payload_version: Version
    payload: Raw
    retry: RetryPolicyIn
    task_timeout_ms: TimeoutMs
    business_key: Key | msgspec.UnsetType = msgspec.UNSET
    concurrency_key: Key | msgspec.UnsetType = msgspec.UNSET
    priority: Annotated[int, Meta(ge=-100, le=100)] = 0
    recovery_safety: Literal["RECONCILE_ONLY", "REPLAY_SAFE"] = "RECONCILE_ONLY"
    available_at: str | None = None
    start_deadline_at: str | None = None
    owner: OwnerIn | msgspec.UnsetType = msgspec.UNSET
    gated: bool = False


class HandlerFilter(Command, frozen=True, kw_only=True):
    """One handler and version that a worker can run."""

    handler: HandlerName
    handler_version: Version


class WorkerIn(Command, frozen=True, kw_only=True):
    """Who claims: a name for people and the id of this process."""

    name: Annotated[str, Meta(min_length=1, max_length=200)]
    instance_id: Hex32


class ClaimTasks(Command, frozen=True, kw_only=True):
    """A worker asks for tasks (POST /v1/queues/{queue_id}:claim)."""

    worker: WorkerIn
    max_tasks: Annotated[int, Meta(ge=1, le=100)] = 1
    lease_ms: Annotated[int, Meta(ge=1_000, le=300_000)] | msgspec.UnsetType = (
        msgspec.UNSET
    )
    handlers: (
        Annotated[list[HandlerFilter], Meta(min_length=1, max_length=100)]
        | msgspec.UnsetType
    ) = msgspec.UNSET


class Heartbeat(Command, frozen=True, kw_only=True):
    """A worker extends its lease."""

    lease_token: LeaseToken


class ErrorIn(Command, frozen=True, kw_only=True):
    """What went wrong, as the worker tells it."""

    code: Annotated[str, Meta(min_length=1, max_length=100)]
    message: Annotated[str, Meta(max_length=2_000)]


class Succeed(Command, frozen=True, kw_only=True):
    """The attempt succeeded."""

    lease_token: LeaseToken
    result: Raw


class Fail(Command, frozen=True, kw_only=True):
    """The attempt failed, and the worker knows that it did."""

    lease_token: LeaseToken
    error: ErrorIn
    retryable: bool


class Unknown(Command, frozen=True, kw_only=True):
    """The worker itself does not know what happened."""

    lease_token: LeaseToken
    error: ErrorIn | msgspec.UnsetType = msgspec.UNSET


class Cancelled(Command, frozen=True, kw_only=True):
    """The worker stopped because cancel was requested."""

    lease_token: LeaseToken


class CancelTask(Command, frozen=True, kw_only=True):
    """Cancel a task (POST /v1/tasks/{id}:cancel)."""

    reason: Reason | msgspec.UnsetType = msgspec.UNSET


class ReviewTask(Command, frozen=True, kw_only=True):
    """A person settles an uncertain task (spec, section 2).

    With the digest of the dossier that it was decided on it is refused when late
    evidence has arrived since.
    """

    expected_revision: Revision
    reason: Reason
    evidence_ref: EvidenceRef
    execution_settled: bool
    outcome: Literal["SUCCEEDED", "FAILED"]
    result: Raw
    expected_dossier_digest: Digest | msgspec.UnsetType = msgspec.UNSET


class StartProbe(Command, frozen=True, kw_only=True):
    """A person has it looked up whether a task took effect; nothing to say."""


class RetryTask(Command, frozen=True, kw_only=True):
    """A person re-executes a final task as a new one (spec, section 3)."""

    expected_revision: Revision
    reason: Reason
    evidence_ref: EvidenceRef
    safe_to_retry: bool
    task_timeout_ms: TimeoutMs
    available_at: str | None = None
    start_deadline_at: str | None = None


class ApproveReview(Command, frozen=True, kw_only=True):
    """A second person carries out a proposed review."""

    proposal_id: Hex32
    expected_revision: Revision


class WithdrawReview(Command, frozen=True, kw_only=True):
    """A person takes a proposed review back."""

    proposal_id: Hex32
