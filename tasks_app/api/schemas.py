"""The answers of /v1 as documented shapes; every answer in the suite is held to them.

They describe and check; what is answered comes from `shapes`.
"""

from datetime import datetime
from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Raw, Struct, UnsetType

Id = Annotated[str, Meta(pattern=r"^[0-9a-f]{32}$")]
Revision = Annotated[str, Meta(pattern=r"^[1-9][0-9]*$")]
Cursor = Annotated[str, Meta(max_length=1024)]
State = Literal[
    "WAITING", "RUNNING", "NEEDS_REVIEW", "SUCCEEDED", "FAILED", "CANCELLED"
]
Outcome = Literal["ACTIVE", "SUCCEEDED", "FAILED", "UNKNOWN", "CANCELLED"]
RecoverySafety = Literal["RECONCILE_ONLY", "REPLAY_SAFE"]
ReportKind = Literal["succeed", "fail", "unknown", "cancelled"]
EvidenceKind = Literal["succeed", "fail", "unknown", "cancelled", "probe"]
OwnerKind = Literal["STANDALONE", "SCHEDULE", "WORKFLOW", "PROBE"]


class RetryPolicy(Struct, kw_only=True):
    """The retry policy, frozen when the task was accepted; times in milliseconds."""

    max_attempts: int
    initial_delay_ms: int
    max_delay_ms: int
    attempt_timeout_ms: int


class Owner(Struct, kw_only=True):
    """Who recovers the task; a STANDALONE task has no owner id."""

    kind: OwnerKind
    id: Id | UnsetType = UNSET


class TaskError(Struct, kw_only=True):
    """Why the task or attempt failed or is uncertain; a list has the code alone."""

    code: str
    message: str | UnsetType = UNSET


class TaskSummary(Struct, kw_only=True):
    """A task in a list: without payload, result and retry_of."""

    id: Id
    namespace_id: Id
    queue_id: Id
    state: State
    revision: Revision
    handler: str
    handler_version: str
    payload_version: str
    priority: int
    available_at: datetime
    deadline_at: datetime
    recovery_safety: RecoverySafety
    retry: RetryPolicy
    attempt_count: int
    effect_uncertain: bool
    owner: Owner
    created_at: datetime
    updated_at: datetime
    gated: bool | UnsetType = UNSET
    business_key: str | UnsetType = UNSET
    concurrency_key: str | UnsetType = UNSET
    start_deadline_at: datetime | UnsetType = UNSET
    cancel_requested_at: datetime | UnsetType = UNSET
    completed_at: datetime | UnsetType = UNSET
    error: TaskError | UnsetType = UNSET


class Task(TaskSummary, kw_only=True):
    """A task in full; payload and result have the digits that came in."""

    payload: Raw
    result: Raw | UnsetType = UNSET
    retry_of: Id | UnsetType = UNSET


class TaskStanding(Struct, kw_only=True):
    """The least that an answer to a batch says of a task."""

    id: Id
    state: State
    revision: Revision


class TaskPage(Struct, kw_only=True):
    """A page of tasks; next_cursor is there only when there is more."""

    items: list[TaskSummary]
    next_cursor: Cursor | UnsetType = UNSET


class TaskReceipt(Struct, kw_only=True):
    """The task as the write left it, and whether the key had done it before."""

    task: Task
    deduplicated: bool


class ReviewReceipt(TaskReceipt, kw_only=True):
    """The settled task and the operation that settled it."""

    audit_id: Id


class RetryReceipt(TaskReceipt, kw_only=True):
    """The new task and the operation, which is recorded on the source."""

    source_task_id: Id
    audit_id: Id


class Proposal(Struct, kw_only=True):
    """A review that waits for a second person, and how it stands."""

    id: Id
    task_id: Id
    queue_id: Id
    state: Literal["OPEN", "APPROVED", "WITHDRAWN", "EXPIRED", "SUPERSEDED"]
    expected_revision: Revision
    outcome: Literal["SUCCEEDED", "FAILED"]
    result: Raw
    reason: str
    evidence_ref: str
    proposed_by: Id
    created_at: datetime
    expires_at: datetime
    decided_by: Id | UnsetType = UNSET
    decided_at: datetime | UnsetType = UNSET


class ProposalReceipt(Struct, kw_only=True):
    """The proposal as the write left it, and the operation."""

    proposal: Proposal
    audit_id: Id
    deduplicated: bool


class Proposals(Struct, kw_only=True):
    """Every proposal of the task, oldest first."""

    items: list[Proposal]


class Problem(Struct, kw_only=True):
    """Why a call was refused, and what to do next."""

    code: Annotated[str, Meta(pattern=r"^[A-Z_]+$")]
    message: str


class InvalidArgument(Problem, kw_only=True):
    """The input breaks a rule; `field` names it; nothing was touched."""

    code: Literal["INVALID_ARGUMENT"]
    field: str | UnsetType = UNSET


class Unauthenticated(Problem, kw_only=True):
    """No valid token; only the holder of the right secret is told a reason."""

    code: Literal["UNAUTHENTICATED"]
    reason: (
        Literal[
            "token_revoked", "token_suspended", "token_expired", "application_disabled"
        ]
        | UnsetType
    ) = UNSET


class PermissionDenied(Problem, kw_only=True):
    """The token lacks the permission, or the queue's application is disabled."""

    code: Literal["PERMISSION_DENIED"]
    required_permission: str | UnsetType = UNSET


DutyReason = Literal["SUBMITTER", "PROPOSER"]


class ReviewNotAllowed(Problem, kw_only=True):
    """The queue wants another person: who submitted or proposed it may not."""

    code: Literal["REVIEW_NOT_ALLOWED"]
    reason: DutyReason


class NotFound(Problem, kw_only=True):
    """No such thing, or it belongs to another namespace, queue range or task."""

    code: Literal["NOT_FOUND"]


class UnseenEvidence(Struct, kw_only=True):
    """A late report that came after the dossier was read."""

    id: Id
    attempt_id: Id
    kind: EvidenceKind
    received_at: datetime


ConflictReason = Literal[
    "STATE",
    "REVISION",
    "OWNER",
    "GATE",
    "LEASE",
    "PERMIT",
    "EFFECT_UNCERTAIN",
    "ALREADY_RETRIED",
    "SECOND_APPROVER",
    "PROPOSED",
    "PROPOSAL_APPROVED",
    "PROPOSAL_WITHDRAWN",
    "PROPOSAL_EXPIRED",
    "PROPOSAL_SUPERSEDED",
    "DOSSIER_CHANGED",
    "NO_PROBE",
    "PROBE_RUNNING",
]


class ConflictDetails(Problem, kw_only=True):
    """What a conflict tells of the act that came before, and of newer evidence."""

    audit_id: Id | UnsetType = UNSET
    settled_at: datetime | UnsetType = UNSET
    successor_task_id: Id | UnsetType = UNSET
    dossier_digest: Annotated[str, Meta(pattern=r"^[0-9a-f]{64}$")] | UnsetType = UNSET
    new_evidence: list[UnseenEvidence] | UnsetType = UNSET
    new_evidence_count: int | UnsetType = UNSET


class StateConflict(ConflictDetails, kw_only=True):
    """What forbids it, how the task stands, and the act that came before."""

    code: Literal["STATE_CONFLICT"]
    reason: ConflictReason
    state: State
    revision: Revision


class IdempotencyConflict(Problem, kw_only=True):
    """The key was used for the same operation with other content."""

    code: Literal["IDEMPOTENCY_CONFLICT"]


class BodyTooLarge(Problem, kw_only=True):
    """The body is over 512 KiB."""

    code: Literal["BODY_TOO_LARGE"]


class UnsupportedMediaType(Problem, kw_only=True):
    """The body is not declared as application/json."""

    code: Literal["UNSUPPORTED_MEDIA_TYPE"]


class Full(Problem, kw_only=True):
    """No room for another task; nothing was created and the key is not used up."""

    code: Literal["QUEUE_FULL", "APPLICATION_FULL"]
    retry_after_ms: int


class Internal(Problem, kw_only=True):
    """Orbit's own fault; report the request_id."""

    code: Literal["INTERNAL"]


class Unavailable(Problem, kw_only=True):
    """The outcome may be committed: keep the same key and ask again."""

    code: Literal["UNAVAILABLE"]
    retry_after_ms: int | UnsetType = UNSET


class BatchEntry(Struct, kw_only=True):
    """What became of one task of a batch: 201, 200 for a replay, or a refusal."""

    status: int
    task: TaskStanding | UnsetType = UNSET
    deduplicated: bool | UnsetType = UNSET
    error: dict[str, Any] | UnsetType = UNSET


class BatchResults(Struct, kw_only=True):
    """One entry for each task, in the order they were sent."""

    results: list[BatchEntry]


class Assignment(Struct, kw_only=True):
    """One leased task; the lease token is shown here and nowhere else."""

    attempt_id: Id
    attempt_number: int
    lease_token: str
    lease_expires_at: datetime
    task: Task


class Assignments(Struct, kw_only=True):
    """What the worker got; an empty list when nothing may start now."""

    assignments: list[Assignment]


class Lease(Struct, kw_only=True):
    """The lease as extended, and whether the worker should stop."""

    lease_expires_at: datetime
    cancel_requested: bool


class ReportedTask(Struct, kw_only=True):
    """The task as the report left it."""

    task: Task


class ReportEntry(Struct, kw_only=True):
    """What became of one report of a batch."""

    attempt_id: Id
    status: int
    task: TaskStanding | UnsetType = UNSET
    error: dict[str, Any] | UnsetType = UNSET


class ReportResults(Struct, kw_only=True):
    """One entry for each report, in the order they were sent."""

    results: list[ReportEntry]


class Worker(Struct, kw_only=True):
    """Who worked: a name for people and the id of the process."""

    name: str
    instance_id: Id


class Evidence(Struct, kw_only=True):
    """A report that came after the lease had ended, word for word."""

    id: Id
    kind: EvidenceKind
    content: dict[str, Any]
    received_at: datetime


class Attempt(Struct, kw_only=True):
    """One execution under one lease, with the evidence that came too late."""

    id: Id
    number: int
    outcome: Outcome
    worker: Worker
    started_at: datetime
    lease_expires_at: datetime
    evidence: list[Evidence]
    last_heartbeat_at: datetime | UnsetType = UNSET
    ended_at: datetime | UnsetType = UNSET
    error: TaskError | UnsetType = UNSET


class Attempts(Struct, kw_only=True):
    """Every attempt in order."""

    items: list[Attempt]


class OperationSummary(Struct, kw_only=True):
    """One operation in a list."""

    id: Id
    task_id: Id
    operation_id: Id
    actor_id: Id
    action: str
    created_at: datetime


class Operation(OperationSummary, kw_only=True):
    """One operation with its reason and the task before and after."""

    after: dict[str, Any]
    before: dict[str, Any] | UnsetType = UNSET
    reason: str | UnsetType = UNSET
    evidence_ref: str | UnsetType = UNSET
    approver_id: Id | UnsetType = UNSET


class OperationPage(Struct, kw_only=True):
    """A page of operations, newest first."""

    items: list[OperationSummary]
    next_cursor: Cursor | UnsetType = UNSET


class OldestInReview(Struct, kw_only=True):
    """The task that has waited longest for a person."""

    task_id: Id
    queue_id: Id
    since: datetime
    age_ms: int


class NeedsReview(Struct, kw_only=True):
    """How many tasks wait for a person; `oldest` is there when one does."""

    tasks: int
    oldest: OldestInReview | UnsetType = UNSET


class HeldQuota(Struct, kw_only=True):
    """The quota of a queue that tasks in NEEDS_REVIEW hold, one unit each."""

    queue_id: Id
    name: str
    quota_held: int
    max_outstanding: int
    oldest_since: datetime


class Flow(Struct, kw_only=True):
    """How many in the last hour and in the last day."""

    last_hour: int
    last_day: int


class TimeToSettle(Struct, kw_only=True):
    """From needing review to the decision, of the newest 10 000 in the window.

    The percentiles are there when there was a decision.
    """

    tasks: int
    p50_ms: int | UnsetType = UNSET
    p95_ms: int | UnsetType = UNSET


class RecoverySLO(Struct, kw_only=True):
    """How recovery stands in the token's queues."""

    measured_at: datetime
    window_hours: int
    needs_review: NeedsReview
    queues: list[HeldQuota]
    serial_jobs_blocked: int
    inflow: Flow
    settled: Flow
    time_to_settle: TimeToSettle
    contradictions: Flow


class Event(Struct, kw_only=True):
    """One result event; the body is frozen, the same at every delivery."""

    id: str
    created_at: datetime
    body: dict[str, Any]


class EventPage(Struct, kw_only=True):
    """Events in commit order; next_cursor is always there to go on from."""

    items: list[Event]
    next_cursor: Cursor
