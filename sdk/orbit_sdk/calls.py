"""Every call of the API described once: what it sends and what comes back.

Both clients offer exactly these functions as methods.
"""

import datetime as dt
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Generic, Literal, TypeVar

import msgspec
from msgspec import UNSET, UnsetType

from orbit_sdk.answers import (
    Assignments,
    Attempts,
    CurrentTask,
    EventFeed,
    LeaseAnswer,
    Operation,
    OperationDetail,
    Page,
    ProposalReceipt,
    Proposals,
    RecoverySLO,
    ReportOutcomes,
    RetryReceipt,
    ReviewReceipt,
    SubmitOutcomes,
    TaskAnswer,
    TaskReceipt,
    TaskSummary,
)
from orbit_sdk.dossier import (
    Contradiction,
    Dossier,
    Lineage,
    Preview,
    ReceiptFinding,
)
from orbit_sdk.exact import encode
from orbit_sdk.requests import (
    Approval,
    AttemptError,
    Claim,
    KeyedTask,
    NewTask,
    PageRequest,
    ReceiptQuestion,
    Report,
    Retry,
    Review,
    TaskFilter,
)

Shape = TypeVar("Shape", bound=msgspec.Struct)

_ID = re.compile(r"[0-9a-f]{32}")
_KEY = re.compile(r"[A-Za-z0-9._:-]{1,128}")
_FIRST_PAGE = PageRequest()
_ALL_TASKS = TaskFilter()


@dataclass(frozen=True, slots=True, kw_only=True)
class Call(Generic[Shape]):
    """One request, and the shape of the `data` of its answer."""

    method: Literal["GET", "POST"]
    path: str
    answer: type[Shape]
    # Bodies hold lease tokens and headers hold keys: neither is for a log.
    body: bytes | None = field(default=None, repr=False)
    key: str | None = field(default=None, repr=False)
    query: dict[str, str] = field(default_factory=dict)
    # A question that is too large or too secret for an address.
    only_asks: bool = False

    @property
    def writes(self) -> bool:
        return self.method == "POST" and not self.only_asks

    @property
    def headers(self) -> dict[str, str]:
        if self.key is not None:
            return {"Content-Type": "application/json", "Idempotency-Key": self.key}
        return {} if self.body is None else {"Content-Type": "application/json"}


def submit_task(task: NewTask, *, idempotency_key: str) -> Call[TaskReceipt]:
    """Submit one task; the same key and content again gets the first receipt."""
    return Call(
        method="POST",
        path="/v1/tasks",
        answer=TaskReceipt,
        body=_body(_members(task, exact="payload")),
        key=_key(idempotency_key),
    )


def submit_tasks(tasks: Sequence[KeyedTask]) -> Call[SubmitOutcomes]:
    """Submit up to 500 tasks, each with its own key and its own outcome."""
    for task in tasks:
        _key(task.idempotency_key)
    return Call(
        method="POST",
        path="/v1/tasks:batch",
        answer=SubmitOutcomes,
        body=_body({"tasks": [_members(task, exact="payload") for task in tasks]}),
    )


def get_task(task_id: str) -> Call[CurrentTask]:
    """The task as it is now."""
    return Call(method="GET", path=f"/v1/tasks/{_id(task_id)}", answer=CurrentTask)


def list_tasks(
    matching: TaskFilter = _ALL_TASKS, *, page: PageRequest = _FIRST_PAGE
) -> Call[Page[TaskSummary]]:
    """A page of tasks, without payloads and results."""
    return Call(
        method="GET",
        path="/v1/tasks",
        answer=Page[TaskSummary],
        query=_query(matching, page),
    )


def list_attempts(task_id: str) -> Call[Attempts]:
    """Every attempt at the task, each with the evidence that came too late."""
    return Call(
        method="GET", path=f"/v1/tasks/{_id(task_id)}/attempts", answer=Attempts
    )


def cancel_task(
    task_id: str, *, idempotency_key: str, reason: str | UnsetType = UNSET
) -> Call[TaskReceipt]:
    """Cancel a waiting task, or ask the worker of a running one to stop."""
    return Call(
        method="POST",
        path=f"/v1/tasks/{_id(task_id)}:cancel",
        answer=TaskReceipt,
        body=_body({} if isinstance(reason, UnsetType) else {"reason": reason}),
        key=_key(idempotency_key),
    )


def review_task(
    task_id: str, review: Review, *, idempotency_key: str
) -> Call[ReviewReceipt]:
    """Settle a task in NEEDS_REVIEW; needs the permission tasks:review."""
    return Call(
        method="POST",
        path=f"/v1/tasks/{_id(task_id)}:review",
        answer=ReviewReceipt,
        body=_body(_members(review, exact="result")),
        key=_key(idempotency_key),
    )


def propose_review(
    task_id: str, review: Review, *, idempotency_key: str
) -> Call[ProposalReceipt]:
    """Propose a review that another person approves; needs tasks:review."""
    return Call(
        method="POST",
        path=f"/v1/tasks/{_id(task_id)}:propose-review",
        answer=ProposalReceipt,
        body=_body(_members(review, exact="result")),
        key=_key(idempotency_key),
    )


def approve_review(
    task_id: str, approval: Approval, *, idempotency_key: str
) -> Call[ReviewReceipt]:
    """Settle a task as another person proposed; needs tasks:review."""
    return Call(
        method="POST",
        path=f"/v1/tasks/{_id(task_id)}:approve-review",
        answer=ReviewReceipt,
        body=_body(_members(approval)),
        key=_key(idempotency_key),
    )


def withdraw_review(
    task_id: str, proposal_id: str, *, idempotency_key: str
) -> Call[ProposalReceipt]:
    """Take a proposed review back; needs tasks:review."""
    return Call(
        method="POST",
        path=f"/v1/tasks/{_id(task_id)}:withdraw-review",
        answer=ProposalReceipt,
        body=_body({"proposal_id": _id(proposal_id)}),
        key=_key(idempotency_key),
    )


def list_proposals(task_id: str) -> Call[Proposals]:
    """What was proposed for the task, and how each proposal stands."""
    return Call(
        method="GET", path=f"/v1/tasks/{_id(task_id)}/proposals", answer=Proposals
    )


def retry_task(
    task_id: str, retry: Retry, *, idempotency_key: str
) -> Call[RetryReceipt]:
    """Have a FAILED or CANCELLED task done anew; needs the permission tasks:retry."""
    return Call(
        method="POST",
        path=f"/v1/tasks/{_id(task_id)}:retry",
        answer=RetryReceipt,
        body=_body(_members(retry)),
        key=_key(idempotency_key),
    )


def start_probe(task_id: str, *, idempotency_key: str) -> Call[RetryReceipt]:
    """Have it looked up whether a task took effect; needs the permission tasks:review.

    The answer's task is the probe's own; what it finds becomes evidence.
    """
    return Call(
        method="POST",
        path=f"/v1/tasks/{_id(task_id)}:probe",
        answer=RetryReceipt,
        body=_body({}),
        key=_key(idempotency_key),
    )


def preview_review(task_id: str, review: Review) -> Call[Preview]:
    """What this review would do now; nothing is written, no key is used."""
    return Call(
        method="POST",
        path=f"/v1/tasks/{_id(task_id)}:preview-review",
        answer=Preview,
        body=_body(_members(review, exact="result")),
        only_asks=True,
    )


def preview_retry(task_id: str, retry: Retry) -> Call[Preview]:
    """What this retry would do now; nothing is written, no key is used."""
    return Call(
        method="POST",
        path=f"/v1/tasks/{_id(task_id)}:preview-retry",
        answer=Preview,
        body=_body(_members(retry)),
        only_asks=True,
    )


def get_dossier(task_id: str) -> Call[Dossier]:
    """All that is known of a task, and the digest to review it by."""
    return Call(method="GET", path=f"/v1/tasks/{_id(task_id)}/dossier", answer=Dossier)


def get_lineage(task_id: str) -> Call[Lineage]:
    """The task's chain of retries, root to tip."""
    return Call(method="GET", path=f"/v1/tasks/{_id(task_id)}/lineage", answer=Lineage)


def list_contradictions(
    *, task_id: str | UnsetType = UNSET, page: PageRequest = _FIRST_PAGE
) -> Call[Page[Contradiction]]:
    """A page of late reports that disagree with an outcome; needs tasks:audit:read."""
    only = {} if isinstance(task_id, UnsetType) else {"task_id": _id(task_id)}
    return Call(
        method="GET",
        path="/v1/contradictions",
        answer=Page[Contradiction],
        query=only | _query(page),
    )


def look_up_receipt(
    question: ReceiptQuestion, *, idempotency_key: str
) -> Call[ReceiptFinding]:
    """What became of a write of this token's own, without making it again."""
    return Call(
        method="POST",
        path="/v1/receipts:look-up",
        answer=ReceiptFinding,
        body=_body(_members(question)),
        key=_key(idempotency_key),
        only_asks=True,
    )


def list_operations(
    task_id: str, *, page: PageRequest = _FIRST_PAGE
) -> Call[Page[Operation]]:
    """A page of the task's audit, newest first; needs tasks:audit:read."""
    return Call(
        method="GET",
        path=f"/v1/tasks/{_id(task_id)}/operations",
        answer=Page[Operation],
        query=_query(page),
    )


def get_operation(task_id: str, audit_id: str) -> Call[OperationDetail]:
    """One act on the task with its reason, before and after."""
    return Call(
        method="GET",
        path=f"/v1/tasks/{_id(task_id)}/operations/{_id(audit_id)}",
        answer=OperationDetail,
    )


def get_recovery_slo(*, window_hours: int = 24) -> Call[RecoverySLO]:
    """How recovery stands in the token's queues; needs tasks:audit:read."""
    return Call(
        method="GET",
        path="/v1/recovery/slo",
        answer=RecoverySLO,
        query={"window_hours": str(window_hours)},
    )


def list_events(*, page: PageRequest = _FIRST_PAGE) -> Call[EventFeed]:
    """Result events in commit order; none is passed over by going on from a cursor."""
    return Call(method="GET", path="/v1/events", answer=EventFeed, query=_query(page))


def claim_tasks(queue_id: str, claim: Claim) -> Call[Assignments]:
    """Take up to `max_tasks` tasks, each under a lease of its own."""
    return Call(
        method="POST",
        path=f"/v1/queues/{_id(queue_id)}:claim",
        answer=Assignments,
        body=_body(_members(claim)),
    )


def heartbeat(attempt_id: str, *, lease_token: str) -> Call[LeaseAnswer]:
    """Extend the lease; StateConflict once it is over or the task is final."""
    return Call(
        method="POST",
        path=f"/v1/attempts/{_id(attempt_id)}:heartbeat",
        answer=LeaseAnswer,
        body=_body({"lease_token": lease_token}),
    )


def succeed(attempt_id: str, *, lease_token: str, result: object) -> Call[TaskAnswer]:
    """Report the result of an attempt, any JSON value of at most 256 KiB."""
    return _report(
        Report.succeed(attempt_id=attempt_id, lease_token=lease_token, result=result)
    )


def fail(
    attempt_id: str, *, lease_token: str, error: AttemptError, retryable: bool
) -> Call[TaskAnswer]:
    """Report that an attempt failed; retryable: another may be made."""
    return _report(
        Report.fail(
            attempt_id=attempt_id,
            lease_token=lease_token,
            error=error,
            retryable=retryable,
        )
    )


def unknown(
    attempt_id: str, *, lease_token: str, error: AttemptError | UnsetType = UNSET
) -> Call[TaskAnswer]:
    """Report that nobody knows what the attempt did: people must look."""
    return _report(
        Report.unknown(attempt_id=attempt_id, lease_token=lease_token, error=error)
    )


def acknowledge_cancel(attempt_id: str, *, lease_token: str) -> Call[TaskAnswer]:
    """Report that the attempt stopped because a cancel was requested."""
    return _report(Report.cancelled(attempt_id=attempt_id, lease_token=lease_token))


def report(reports: Sequence[Report]) -> Call[ReportOutcomes]:
    """Up to 100 reports in one request, each with its own outcome."""
    return Call(
        method="POST",
        path="/v1/attempts:report",
        answer=ReportOutcomes,
        body=_body({"reports": reports}),
    )


def _report(said: Report) -> Call[TaskAnswer]:
    body = {
        "lease_token": said.lease_token,
        "result": said.result,
        "error": said.error,
        "retryable": said.retryable,
    }
    return Call(
        method="POST",
        path=f"/v1/attempts/{_id(said.attempt_id)}:{said.kind}",
        answer=TaskAnswer,
        body=_body({name: it for name, it in body.items() if it is not UNSET}),
    )


def _id(value: str) -> str:
    if not _ID.fullmatch(value):
        raise ValueError(f"{value[:64]!r} is not an id of 32 lower-case hex digits.")
    return value


def _key(value: str) -> str:
    if not _KEY.fullmatch(value):
        raise ValueError(
            "An idempotency key is 1 to 128 letters, digits or any of . _ : -"
        )
    return value


def _members(shape: msgspec.Struct, *, exact: str | None = None) -> dict[str, object]:
    """What the shape says, times in UTC, the `exact` member as its JSON text."""
    said: dict[str, object] = {
        name: _in_utc(value) if isinstance(value, dt.datetime) else value
        for name, value in msgspec.structs.asdict(shape).items()
        if value is not UNSET
    }
    if exact is not None:
        said[exact] = msgspec.Raw(encode(said[exact]))
    return said


def _in_utc(moment: dt.datetime) -> dt.datetime:
    if moment.tzinfo is None:
        raise ValueError("A time needs a time zone; give an aware datetime.")
    return moment.astimezone(dt.UTC)


def _body(members: dict[str, object]) -> bytes:
    return msgspec.json.encode(members)


def _query(*shapes: TaskFilter | PageRequest) -> dict[str, str]:
    asked: dict[str, str] = {}
    for shape in shapes:
        moments = msgspec.to_builtins(_members(shape))
        asked.update({name: str(value) for name, value in moments.items()})
    return asked
