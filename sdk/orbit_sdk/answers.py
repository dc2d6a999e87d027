"""The shapes a caller gets back; members this version does not know are passed over."""

import datetime as dt
from typing import Any, Generic, TypeVar

import msgspec
from msgspec import UNSET, UnsetType

from orbit_sdk.errors import Problem, Refused, refusal
from orbit_sdk.exact import Json, decode

Item = TypeVar("Item")

_SERVER_FAULT = 500


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What every answer has: the id under which the server logged the call."""

    request_id: str = ""


class FrozenRetryPolicy(msgspec.Struct, frozen=True, kw_only=True):
    """The retry policy as the server settled it when the task was accepted."""

    max_attempts: int
    initial_delay_ms: int
    max_delay_ms: int
    attempt_timeout_ms: int


class AttemptFailure(msgspec.Struct, frozen=True, kw_only=True):
    """Why an attempt or a task did not succeed; lists leave the message out."""

    code: str
    message: str = ""


class TaskOwner(msgspec.Struct, frozen=True, kw_only=True):
    """Who controls the task: STANDALONE (nobody), SCHEDULE or WORKFLOW."""

    kind: str = "STANDALONE"
    id: str | None = None


class TaskSummary(msgspec.Struct, frozen=True, kw_only=True):
    """A task as lists show it."""

    id: str
    state: str
    revision: str
    queue_id: str
    handler: str
    handler_version: str
    created_at: dt.datetime
    namespace_id: str | None = None
    business_key: str | None = None
    concurrency_key: str | None = None
    priority: int = 0
    available_at: dt.datetime | None = None
    deadline_at: dt.datetime | None = None
    start_deadline_at: dt.datetime | None = None
    attempt_count: int = 0
    effect_uncertain: bool = False
    cancel_requested_at: dt.datetime | None = None
    recovery_safety: str = "RECONCILE_ONLY"
    owner: TaskOwner = TaskOwner()
    gated: bool = False
    error: AttemptFailure | None = None
    completed_at: dt.datetime | None = None
    updated_at: dt.datetime | None = None


class Task(TaskSummary, frozen=True, kw_only=True):
    """A task with its exact payload and, once it has one, result."""

    payload_version: str
    payload_raw: msgspec.Raw = msgspec.field(name="payload")
    result_raw: msgspec.Raw | UnsetType = msgspec.field(default=UNSET, name="result")
    retry: FrozenRetryPolicy
    retry_of: str | None = None

    @property
    def payload(self) -> Json:
        return Json(self.payload_raw)

    @property
    def result(self) -> Json | None:
        """None while there is no result; a result that is null is Json("null")."""
        return None if isinstance(self.result_raw, UnsetType) else Json(self.result_raw)


class CurrentTask(Task, frozen=True, kw_only=True):
    """The task as it was when the server answered."""

    request_id: str = ""


class TaskState(msgspec.Struct, frozen=True, kw_only=True):
    """Where a task stands: what a batch says of each."""

    id: str
    state: str
    revision: str


class TaskAnswer(Answer, frozen=True, kw_only=True):
    """The task as a report left it."""

    task: Task


class TaskReceipt(Answer, frozen=True, kw_only=True):
    """The answer of an idempotent write; a repeat has the task as it was then."""

    task: Task
    deduplicated: bool


class ReviewReceipt(TaskReceipt, frozen=True, kw_only=True):
    """The reviewed task and the audit record of the review."""

    audit_id: str


class Proposal(msgspec.Struct, frozen=True, kw_only=True):
    """A review that waits for a second person.

    `state` is OPEN, APPROVED, WITHDRAWN, EXPIRED or SUPERSEDED.
    """

    id: str
    task_id: str
    state: str
    expected_revision: str
    outcome: str
    result_raw: msgspec.Raw = msgspec.field(name="result")
    reason: str
    evidence_ref: str
    proposed_by: str
    created_at: dt.datetime
    expires_at: dt.datetime
    decided_by: str | None = None
    decided_at: dt.datetime | None = None

    @property
    def result(self) -> Json:
        return Json(self.result_raw)


class ProposalReceipt(Answer, frozen=True, kw_only=True):
    """The proposal as the write left it, and the audit record of the write."""

    proposal: Proposal
    audit_id: str
    deduplicated: bool


class Proposals(Answer, frozen=True, kw_only=True):
    """Every review that was proposed for a task, oldest first."""

    items: tuple[Proposal, ...]


class RetryReceipt(TaskReceipt, frozen=True, kw_only=True):
    """The new task, the source it retries, and the audit record on the source."""

    source_task_id: str
    audit_id: str


class Page(Answer, Generic[Item], frozen=True, kw_only=True):
    """Items, and the cursor of the next page when there is one."""

    items: tuple[Item, ...]
    next_cursor: str | None = None


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one entry of a batch."""

    status: int
    error: msgspec.Raw | UnsetType = UNSET

    @property
    def refusal(self) -> Refused | None:
        """The error as the exception a single call would have raised, or None."""
        if isinstance(self.error, UnsetType):
            return None
        return refusal(problem(decode(self.error), status=self.status))


class SubmitOutcome(Outcome, frozen=True, kw_only=True):
    """One task of a batch: created (201), replayed (200) or refused."""

    task: TaskState | None = None
    deduplicated: bool | None = None


class ReportOutcome(Outcome, frozen=True, kw_only=True):
    """One report of a batch: accepted (200) or refused."""

    attempt_id: str
    task: TaskState | None = None


class SubmitOutcomes(Answer, frozen=True, kw_only=True):
    """One outcome for each task, in the order they were given."""

    results: tuple[SubmitOutcome, ...]


class ReportOutcomes(Answer, frozen=True, kw_only=True):
    """One outcome for each report, in the order they were given."""

    results: tuple[ReportOutcome, ...]


class Assignment(msgspec.Struct, frozen=True, kw_only=True):
    """A task to do, and the lease under which to report on it."""

    attempt_id: str
    attempt_number: int
    lease_token: str
    lease_expires_at: dt.datetime
    task: Task

    def __repr__(self) -> str:
        return f"Assignment(attempt_id={self.attempt_id!r}, task_id={self.task.id!r})"


class Assignments(Answer, frozen=True, kw_only=True):
    """What a claim got; may be empty."""

    assignments: tuple[Assignment, ...]


class LeaseAnswer(Answer, frozen=True, kw_only=True):
    """How long the lease now lasts, and whether someone asked to cancel."""

    lease_expires_at: dt.datetime
    cancel_requested: bool


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """A report that came after the lease had ended; it changed nothing."""

    id: str
    kind: str
    received_at: dt.datetime
    content_raw: msgspec.Raw = msgspec.field(name="content")

    @property
    def content(self) -> Json:
        """The report word for word."""
        return Json(self.content_raw)


class AttemptWorker(msgspec.Struct, frozen=True, kw_only=True):
    """Who made the attempt: the name a worker gave itself, and this run of it."""

    name: str
    instance_id: str


class Attempt(msgspec.Struct, frozen=True, kw_only=True):
    """One execution of a task by one worker; `outcome` is ACTIVE while it runs."""

    id: str
    number: int
    outcome: str
    worker: AttemptWorker
    started_at: dt.datetime
    lease_expires_at: dt.datetime
    last_heartbeat_at: dt.datetime | None = None
    ended_at: dt.datetime | None = None
    error: AttemptFailure | None = None
    evidence: tuple[Evidence, ...] = ()


class Attempts(Answer, frozen=True, kw_only=True):
    """Every attempt of a task, in order."""

    items: tuple[Attempt, ...]


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """One result event; its body is the same at every delivery.

    Of two events of one task the one with the higher revision is the later. A
    `task.contradicted` has the revision of the outcome that a late report disagrees
    with; it moves nothing.
    """

    id: str
    created_at: dt.datetime
    body_raw: msgspec.Raw = msgspec.field(name="body")

    @property
    def body(self) -> Json:
        return Json(self.body_raw)


class EventFeed(Answer, frozen=True, kw_only=True):
    """Events in commit order; `next_cursor` goes on after them, now or later."""

    items: tuple[Event, ...]
    next_cursor: str


class OldestInReview(msgspec.Struct, frozen=True, kw_only=True):
    """The task that has waited longest for a person."""

    task_id: str
    queue_id: str
    since: dt.datetime
    age_ms: int


class NeedsReview(msgspec.Struct, frozen=True, kw_only=True):
    """How many tasks wait for a person."""

    tasks: int
    oldest: OldestInReview | None = None


class HeldQuota(msgspec.Struct, frozen=True, kw_only=True):
    """The quota of a queue that tasks in NEEDS_REVIEW hold, one unit each."""

    queue_id: str
    name: str
    quota_held: int
    max_outstanding: int
    oldest_since: dt.datetime


class Flow(msgspec.Struct, frozen=True, kw_only=True):
    """How many in the last hour and in the last day."""

    last_hour: int
    last_day: int


class TimeToSettle(msgspec.Struct, frozen=True, kw_only=True):
    """From needing review to the decision; no percentiles without a decision."""

    tasks: int
    p50_ms: int | None = None
    p95_ms: int | None = None


class RecoverySLO(Answer, frozen=True, kw_only=True):
    """How recovery stands in the token's queues."""

    measured_at: dt.datetime
    window_hours: int
    needs_review: NeedsReview
    queues: tuple[HeldQuota, ...]
    serial_jobs_blocked: int
    inflow: Flow
    settled: Flow
    time_to_settle: TimeToSettle
    contradictions: Flow


class Operation(msgspec.Struct, frozen=True, kw_only=True):
    """One recorded act on a task."""

    id: str
    task_id: str
    operation_id: str
    actor_id: str
    action: str
    created_at: dt.datetime


class OperationDetail(Operation, frozen=True, kw_only=True):
    """The act with its reason and what it changed."""

    reason: str | None = None
    evidence_ref: str | None = None
    approver_id: str | None = None
    before_raw: msgspec.Raw = msgspec.field(default=msgspec.Raw(b"null"), name="before")
    after_raw: msgspec.Raw = msgspec.field(default=msgspec.Raw(b"null"), name="after")
    request_id: str = ""

    @property
    def before(self) -> Json:
        return Json(self.before_raw)

    @property
    def after(self) -> Json:
        return Json(self.after_raw)


def problem(
    error: dict[str, Any],
    *,
    status: int,
    request_id: str | None = None,
    writes: bool = True,
) -> Problem:
    """The server's error object as a Problem; 5xx leaves a write in doubt."""
    details = {k: v for k, v in error.items() if k not in {"code", "message"}}
    return Problem(
        code=str(error.get("code", f"HTTP_{status}")),
        message=str(error.get("message", "")),
        status=status,
        request_id=request_id,
        outcome_unknown=writes and status >= _SERVER_FAULT,
        details=details,
    )
