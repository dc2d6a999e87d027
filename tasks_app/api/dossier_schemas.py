"""The answers of previews, dossiers, contradictions, lineages and receipts."""

from datetime import datetime
from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from tasks_app.api.schemas import (
    ConflictDetails,
    ConflictReason,
    Cursor,
    DutyReason,
    Event,
    EvidenceKind,
    Id,
    Operation,
    Outcome,
    Owner,
    RetryPolicy,
    Revision,
    State,
    TaskError,
    TaskStanding,
    Worker,
)

Digest = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}$")]
FinalState = Literal["SUCCEEDED", "FAILED", "CANCELLED"]


class Effect(Struct, kw_only=True):
    """One thing that the call would bring about, for programs and for people."""

    kind: Literal[
        "TASK_SETTLED",
        "QUOTA_RELEASED",
        "QUOTA_TAKEN",
        "TASK_CREATED",
        "AUDIT_RECORDED",
        "EVENT_PUBLISHED",
        "JOB_MOVES_ON",
    ]
    message: str


class WaitingExecution(Struct, kw_only=True):
    """An execution of a serial job that waits for this task to be final."""

    job_id: Id
    job_name: str
    execution_id: Id
    goes_on: bool
    task_id: Id | UnsetType = UNSET


class Available(Struct, kw_only=True):
    """How many more tasks are accepted now."""

    queue: int
    application: int


class Quota(Struct, kw_only=True):
    """Whether one more task would be accepted now, before anything is released."""

    would_fit: bool
    available: Available


class ForetoldChild(Struct, kw_only=True):
    """The task that a retry would create; its id is not known before."""

    queue_id: Id
    handler: str
    handler_version: str
    payload_version: str
    priority: int
    recovery_safety: Literal["RECONCILE_ONLY", "REPLAY_SAFE"]
    retry: RetryPolicy
    retry_of: Id
    available_at: datetime
    deadline_at: datetime
    start_deadline_at: datetime | UnsetType = UNSET
    business_key: str | UnsetType = UNSET
    concurrency_key: str | UnsetType = UNSET


class RefusalToCome(ConflictDetails, kw_only=True):
    """What the call would be refused with: the status and the error object.

    Of REVIEW_NOT_ALLOWED there are only `code`, `message` and `reason`.
    """

    status: int
    code: Literal["STATE_CONFLICT", "REVIEW_NOT_ALLOWED"]
    reason: ConflictReason | DutyReason
    state: State | UnsetType = UNSET
    revision: Revision | UnsetType = UNSET


class Preview(Struct, kw_only=True):
    """What the call would do now. Only `task` and `refusal` if it would be refused.

    `before` and `after` are what the audit would keep.
    """

    allowed: bool
    task: TaskStanding
    refusal: RefusalToCome | UnsetType = UNSET
    before: dict[str, Any] | UnsetType = UNSET
    after: dict[str, Any] | UnsetType = UNSET
    effects: list[Effect] | UnsetType = UNSET
    quota: Quota | UnsetType = UNSET
    moves_on: list[WaitingExecution] | UnsetType = UNSET
    child: ForetoldChild | UnsetType = UNSET


class Excerpt(Struct, kw_only=True):
    """A JSON text by digest (canonical form) and size in bytes.

    `excerpt` is its beginning as written, and only for who may read tasks.
    """

    digest: Digest
    bytes: int
    is_whole: bool | UnsetType = UNSET
    excerpt: str | UnsetType = UNSET


class DossierTask(Struct, kw_only=True):
    """The task without its payload and result as such."""

    id: Id
    namespace_id: Id
    queue_id: Id
    state: State
    revision: Revision
    handler: str
    handler_version: str
    payload_version: str
    payload: Excerpt
    priority: int
    recovery_safety: Literal["RECONCILE_ONLY", "REPLAY_SAFE"]
    retry: RetryPolicy
    attempt_count: int
    effect_uncertain: bool
    owner: Owner
    available_at: datetime
    deadline_at: datetime
    created_at: datetime
    updated_at: datetime
    result: Excerpt | UnsetType = UNSET
    error: TaskError | UnsetType = UNSET
    gated: bool | UnsetType = UNSET
    business_key: str | UnsetType = UNSET
    concurrency_key: str | UnsetType = UNSET
    start_deadline_at: datetime | UnsetType = UNSET
    cancel_requested_at: datetime | UnsetType = UNSET
    completed_at: datetime | UnsetType = UNSET
    retry_of: Id | UnsetType = UNSET


class LeaseInterval(Struct, kw_only=True):
    """When the lease began, was last extended, and ran or would have run out.

    `fence` only grows from attempt to attempt; the right to report ended at `ended_at`.
    """

    fence: Revision
    lease_ms: int
    started_at: datetime
    expires_at: datetime
    not_beyond: datetime
    last_heartbeat_at: datetime | UnsetType = UNSET
    ended_at: datetime | UnsetType = UNSET


class DossierAttempt(Struct, kw_only=True):
    """One execution: who, under which lease, and how it ended."""

    id: Id
    number: int
    outcome: Outcome
    worker: Worker
    actor_id: Id
    lease: LeaseInterval
    error: TaskError | UnsetType = UNSET


class DossierPermit(Struct, kw_only=True):
    """A limit that an attempt still occupies."""

    kind: Literal["QUEUE", "KEY"]
    attempt_id: Id
    acquired_at: datetime
    concurrency_key: str | UnsetType = UNSET


class DossierEvidence(Struct, kw_only=True):
    """A late report; its words as an excerpt."""

    id: Id
    attempt_id: Id
    kind: EvidenceKind
    received_at: datetime
    content: Excerpt


class Contradiction(Struct, kw_only=True):
    """A late report that disagrees with the outcome; the outcome stays.

    `audit_id` is the operation that declared the outcome.
    """

    id: Id
    task_id: Id
    queue_id: Id
    attempt_id: Id
    evidence_id: Id
    audit_id: Id
    revision: Revision
    disagreement: Literal["OUTCOME", "RESULT"]
    declared: FinalState
    claimed: FinalState
    created_at: datetime
    declared_digest: Digest | UnsetType = UNSET
    claimed_digest: Digest | UnsetType = UNSET


class ContradictionPage(Struct, kw_only=True):
    """A page of contradictions, newest first."""

    items: list[Contradiction]
    next_cursor: Cursor | UnsetType = UNSET


class EvidenceShown(Struct, kw_only=True):
    """The newest late reports, oldest first; all of them are with the attempts."""

    items: list[DossierEvidence]
    has_more: bool


class ContradictionsShown(Struct, kw_only=True):
    """The newest contradictions, oldest first; all of them are in their list."""

    items: list[Contradiction]
    has_more: bool


class EventsShown(Struct, kw_only=True):
    """The newest result events, oldest first; all of them are in the feed."""

    items: list[Event]
    has_more: bool


class OperationsShown(Struct, kw_only=True):
    """The newest operations, oldest first; all of them are in their list."""

    items: list[Operation]
    has_more: bool


class Change(Struct, kw_only=True):
    """A member that is otherwise than in the generation before; null is none."""

    field: str
    before: str | int | None
    after: str | int | None


class Generation(Struct, kw_only=True):
    """One task of a retry chain, and what it changed against the one before it.

    `step` 0 is the task that was asked for, its source is -1. `payload_paths` are
    JSON pointers; "" is the whole payload.
    """

    id: Id
    step: int
    state: State
    revision: Revision
    attempt_count: int
    created_at: datetime
    handler: str
    handler_version: str
    payload_digest: Digest
    payload_bytes: int
    changes: list[Change]
    payload_paths: list[str]
    completed_at: datetime | UnsetType = UNSET
    error: TaskError | UnsetType = UNSET


class Lineage(Struct, kw_only=True):
    """The chain of retries, root to tip, at most 50 generations on each side.

    With has_earlier or has_later it goes on: ask for the first or the last one shown.
    """

    items: list[Generation]
    has_earlier: bool
    has_later: bool


class OwnersWord(Struct, kw_only=True):
    """What the owner says to a review, and which serial executions wait."""

    agrees: bool
    waiting: list[WaitingExecution]
    refusal: str | UnsetType = UNSET


class Dossier(Struct, kw_only=True):
    """All that is known of a task; the digest stands for what a decision rests on."""

    dossier_digest: Digest
    task: DossierTask
    attempts: list[DossierAttempt]
    permits: list[DossierPermit]
    evidence: EvidenceShown
    contradictions: ContradictionsShown
    events: EventsShown
    operations: OperationsShown
    lineage: Lineage
    owner: OwnersWord


class ReceiptFinding(Struct, kw_only=True):
    """What the key did, as far as it is committed; where it is found, if it did.

    Without a content_digest in the question contents are not compared.
    """

    verdict: Literal["COMMITTED", "NEVER_SEEN", "DIFFERENT"]
    content_compared: bool
    task_id: Id | UnsetType = UNSET
    audit_id: Id | UnsetType = UNSET
    state: State | UnsetType = UNSET
    revision: Revision | UnsetType = UNSET
    committed_at: datetime | UnsetType = UNSET
