"""The worker protocol, version 1: claim, heartbeat, report."""

from typing import Annotated, Literal
from uuid import UUID

import msgspec
from rest_framework.request import Request
from rest_framework.response import Response

from orbit.errors import Refusal
from orbit.http.envelope import answer
from tasks_app.actions.claim_tasks import claim_tasks
from tasks_app.actions.renew_lease import renew_lease
from tasks_app.actions.report_attempts import report_attempts
from tasks_app.api.shapes import assignment_shape, report_entry, task_shape
from tasks_app.api.views import TaskAPIView
from tasks_app.domain.commands import (
    MAX_BATCH_REPORTS,
    Cancelled,
    ClaimTasks,
    Command,
    ErrorIn,
    Fail,
    Heartbeat,
    Hex32,
    LeaseToken,
    Succeed,
    Unknown,
)
from tasks_app.domain.errors import InvalidField
from tasks_app.domain.lifecycle import Failure
from tasks_app.domain.reports import Report, ReportKind


class ReportIn(Command, frozen=True, kw_only=True):
    """One report of a batch; which members it needs depends on its kind."""

    attempt_id: Hex32
    kind: Literal["succeed", "fail", "unknown", "cancelled"]
    lease_token: LeaseToken
    result: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    error: ErrorIn | msgspec.UnsetType = msgspec.UNSET
    retryable: bool | msgspec.UnsetType = msgspec.UNSET


class ReportBatchIn(Command, frozen=True, kw_only=True):
    """Up to 100 reports (POST /v1/attempts:report)."""

    reports: Annotated[
        list[ReportIn], msgspec.Meta(min_length=1, max_length=MAX_BATCH_REPORTS)
    ]


_MEMBERS = {
    "succeed": {"result"},
    "fail": {"error", "retryable"},
    "unknown": set[str](),
    "cancelled": set[str](),
}
_OPTIONAL = {"unknown": {"error"}}


class QueueClaim(TaskAPIView):
    """POST /v1/queues/{queue_id}:claim."""

    scope = "tasks:work"

    def post(self, request: Request, queue_id: UUID) -> Response:
        """Lease due tasks to this worker."""
        assignments = claim_tasks(
            self.body(ClaimTasks),
            queue_id=queue_id,
            actor=self.actor,
            reach=self.reach,
        )
        return answer(
            request, {"assignments": [assignment_shape(item) for item in assignments]}
        )


class AttemptHeartbeat(TaskAPIView):
    """POST /v1/attempts/{attempt_id}:heartbeat."""

    scope = "tasks:work"

    def post(self, request: Request, attempt_id: UUID) -> Response:
        """Extend the lease; hear whether to stop."""
        renewal = renew_lease(
            attempt_id=attempt_id,
            lease_token=self.body(Heartbeat).lease_token,
            reach=self.reach,
        )
        return answer(request, renewal._asdict())


class AttemptReport(TaskAPIView):
    """One report; the subclasses say which."""

    scope = "tasks:work"

    def report(self, attempt_id: UUID) -> Report:
        """The report in the body."""
        raise NotImplementedError

    def post(self, request: Request, attempt_id: UUID) -> Response:
        """End the attempt, or keep the report as evidence and answer 409."""
        answered = report_attempts(
            [self.report(attempt_id)], actor=self.actor, reach=self.reach
        )[0]
        if isinstance(answered, Refusal):
            raise answered
        return answer(request, {"task": task_shape(answered)})


class AttemptSucceed(AttemptReport):
    """POST /v1/attempts/{attempt_id}:succeed."""

    def report(self, attempt_id: UUID) -> Report:
        """The attempt succeeded with a result."""
        body = self.body(Succeed)
        return Report(
            attempt_id=attempt_id,
            lease_token=body.lease_token,
            kind=ReportKind.SUCCEED,
            result=bytes(body.result).decode(),
        )


class AttemptFail(AttemptReport):
    """POST /v1/attempts/{attempt_id}:fail."""

    def report(self, attempt_id: UUID) -> Report:
        """The attempt failed, and the worker knows that it did."""
        body = self.body(Fail)
        return Report(
            attempt_id=attempt_id,
            lease_token=body.lease_token,
            kind=ReportKind.FAIL,
            failure=_failure(body.error),
            is_retryable=body.retryable,
        )


class AttemptUnknown(AttemptReport):
    """POST /v1/attempts/{attempt_id}:unknown."""

    def report(self, attempt_id: UUID) -> Report:
        """The worker itself does not know."""
        body = self.body(Unknown)
        return Report(
            attempt_id=attempt_id,
            lease_token=body.lease_token,
            kind=ReportKind.UNKNOWN,
            failure=_failure(body.error),
        )


class AttemptCancelled(AttemptReport):
    """POST /v1/attempts/{attempt_id}:cancelled."""

    def report(self, attempt_id: UUID) -> Report:
        """The worker stopped because cancel was requested."""
        return Report(
            attempt_id=attempt_id,
            lease_token=self.body(Cancelled).lease_token,
            kind=ReportKind.CANCELLED,
        )


class ReportBatch(TaskAPIView):
    """POST /v1/attempts:report."""

    scope = "tasks:work"

    def post(self, request: Request) -> Response:
        """Take each report, or say why not; each has its own answer."""
        entries = self.body(ReportBatchIn).reports
        reports = [_read(index, entry) for index, entry in enumerate(entries)]
        answers = report_attempts(reports, actor=self.actor, reach=self.reach)
        return answer(
            request,
            {
                "results": [
                    report_entry(report.attempt_id, item)
                    for report, item in zip(reports, answers, strict=True)
                ]
            },
        )


def _read(index: int, body: ReportIn) -> Report:
    try:
        _check_members(body)
    except Refusal as refusal:
        if refusal.field is not None:
            refusal.field = f"reports[{index}].{refusal.field}"
        raise
    return Report(
        attempt_id=UUID(body.attempt_id),
        lease_token=body.lease_token,
        kind=ReportKind(body.kind),
        result=None if body.result is msgspec.UNSET else bytes(body.result).decode(),
        failure=_failure(body.error),
        is_retryable=body.retryable is True,
    )


def _check_members(body: ReportIn) -> None:
    needed = _MEMBERS[body.kind]
    allowed = needed | _OPTIONAL.get(body.kind, set())
    for name in ("result", "error", "retryable"):
        is_there = getattr(body, name) is not msgspec.UNSET
        if is_there and name not in allowed:
            raise InvalidField(name, f"A report of kind {body.kind} has no {name}.")
        if not is_there and name in needed:
            raise InvalidField(name, f"A report of kind {body.kind} needs {name}.")


def _failure(error: ErrorIn | msgspec.UnsetType) -> Failure | None:
    if error is msgspec.UNSET:
        return None
    return Failure(code=error.code, message=error.message)
