"""What comes back to those who decide: previews, dossiers, lineages, receipts."""

import datetime as dt
from typing import Any, Generic, TypeVar

import msgspec

from orbit_sdk.answers import (
    Answer,
    AttemptFailure,
    AttemptWorker,
    Event,
    OperationDetail,
    TaskState,
    TaskSummary,
)
from orbit_sdk.exact import Json

Item = TypeVar("Item")

_NULL = msgspec.Raw(b"null")


class Effect(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that a call would bring about."""

    kind: str
    message: str


class WaitingExecution(msgspec.Struct, frozen=True, kw_only=True):
    """An execution of a serial job that waits for the task to be final.

    `goes_on` says that it is the next.
    """

    job_id: str
    job_name: str
    execution_id: str
    goes_on: bool
    task_id: str | None = None


class Available(msgspec.Struct, frozen=True, kw_only=True):
    """How many more tasks are accepted now."""

    queue: int
    application: int


class Quota(msgspec.Struct, frozen=True, kw_only=True):
    """Whether one more task would be accepted now."""

    would_fit: bool
    available: Available


class Preview(Answer, frozen=True, kw_only=True):
    """What a review or retry would do, or as `refusal` why it would be refused."""

    allowed: bool
    task: TaskState
    refusal: dict[str, Any] | None = None
    before_raw: msgspec.Raw = msgspec.field(default=_NULL, name="before")
    after_raw: msgspec.Raw = msgspec.field(default=_NULL, name="after")
    effects: tuple[Effect, ...] = ()
    quota: Quota | None = None
    moves_on: tuple[WaitingExecution, ...] = ()
    child: dict[str, Any] | None = None

    @property
    def before(self) -> Json:
        return Json(self.before_raw)

    @property
    def after(self) -> Json:
        return Json(self.after_raw)


class Excerpt(msgspec.Struct, frozen=True, kw_only=True):
    """A JSON text by digest and size; its beginning only for who may read tasks."""

    digest: str
    bytes: int
    is_whole: bool | None = None
    excerpt: str | None = None


class DossierTask(TaskSummary, frozen=True, kw_only=True):
    """The task, its payload and result as excerpts."""

    payload: Excerpt
    result: Excerpt | None = None
    retry_of: str | None = None


class LeaseInterval(msgspec.Struct, frozen=True, kw_only=True):
    """When a lease began, was last extended, and ran or would have run out."""

    fence: str
    lease_ms: int
    started_at: dt.datetime
    expires_at: dt.datetime
    not_beyond: dt.datetime
    last_heartbeat_at: dt.datetime | None = None
    ended_at: dt.datetime | None = None


class DossierAttempt(msgspec.Struct, frozen=True, kw_only=True):
    """One execution: who, under which lease, and how it ended."""

    id: str
    number: int
    outcome: str
    worker: AttemptWorker
    actor_id: str
    lease: LeaseInterval
    error: AttemptFailure | None = None


class DossierPermit(msgspec.Struct, frozen=True, kw_only=True):
    """A limit that an attempt still occupies."""

    kind: str
    attempt_id: str
    acquired_at: dt.datetime
    concurrency_key: str | None = None


class DossierEvidence(msgspec.Struct, frozen=True, kw_only=True):
    """A late report, its words as an excerpt."""

    id: str
    attempt_id: str
    kind: str
    received_at: dt.datetime
    content: Excerpt


class Contradiction(msgspec.Struct, frozen=True, kw_only=True):
    """A late report that disagrees with the outcome, which stays."""

    id: str
    task_id: str
    queue_id: str
    attempt_id: str
    evidence_id: str
    audit_id: str
    revision: str
    disagreement: str
    declared: str
    claimed: str
    created_at: dt.datetime
    declared_digest: str | None = None
    claimed_digest: str | None = None


class Shown(msgspec.Struct, Generic[Item], frozen=True, kw_only=True):
    """The newest items, oldest first, and whether there are more."""

    items: tuple[Item, ...]
    has_more: bool


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """A member that is otherwise than in the generation before."""

    field: str
    before: str | int | None
    after: str | int | None


class Generation(msgspec.Struct, frozen=True, kw_only=True):
    """One task of a retry chain; `step` 0 is the one that was asked for."""

    id: str
    step: int
    state: str
    revision: str
    attempt_count: int
    created_at: dt.datetime
    handler: str
    handler_version: str
    payload_digest: str
    payload_bytes: int
    changes: tuple[Change, ...] = ()
    payload_paths: tuple[str, ...] = ()
    completed_at: dt.datetime | None = None
    error: AttemptFailure | None = None


class Lineage(Answer, frozen=True, kw_only=True):
    """The chain of retries, root to tip; ask for its ends where it goes on."""

    items: tuple[Generation, ...]
    has_earlier: bool
    has_later: bool


class OwnersWord(msgspec.Struct, frozen=True, kw_only=True):
    """What the owner says to a review, and which executions wait."""

    agrees: bool
    waiting: tuple[WaitingExecution, ...] = ()
    refusal: str | None = None


class Dossier(Answer, frozen=True, kw_only=True):
    """All that is known of a task; send the digest with the review."""

    dossier_digest: str
    task: DossierTask
    attempts: tuple[DossierAttempt, ...]
    permits: tuple[DossierPermit, ...]
    evidence: Shown[DossierEvidence]
    contradictions: Shown[Contradiction]
    events: Shown[Event]
    operations: Shown[OperationDetail]
    lineage: Lineage
    owner: OwnersWord


class ReceiptFinding(Answer, frozen=True, kw_only=True):
    """What became of a write: COMMITTED, NEVER_SEEN or DIFFERENT, and where it is."""

    verdict: str
    content_compared: bool
    task_id: str | None = None
    audit_id: str | None = None
    state: str | None = None
    revision: str | None = None
    committed_at: dt.datetime | None = None
