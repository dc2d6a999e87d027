"""What a worker may say of its attempt, and what follows from it."""

import hashlib
import json
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from tasks_app.domain import lifecycle
from tasks_app.domain.commands import MAX_RESULT_BYTES
from tasks_app.domain.declarations import check_size
from tasks_app.domain.errors import LeaseConflict
from tasks_app.domain.lifecycle import Failure, Move, Standing, State

UNKNOWN_TO_WORKER = Failure(
    code="OUTCOME_UNKNOWN", message="The worker does not know what happened."
)


class ReportKind(StrEnum):
    """The four things a worker can report."""

    SUCCEED = "succeed"
    FAIL = "fail"
    UNKNOWN = "unknown"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """One report; `result` is exact JSON text and belongs to SUCCEED only."""

    attempt_id: UUID
    lease_token: str
    kind: ReportKind
    result: str | None = None
    failure: Failure | None = None
    is_retryable: bool = False

    def check(self) -> None:
        """Raise Invalid when the result is too large; the lease stays reportable."""
        if self.result is not None:
            check_size("result", self.result.encode(), limit=MAX_RESULT_BYTES)

    @property
    def token_hash(self) -> bytes:
        """The hash by which the lease is known."""
        return hashlib.sha256(self.lease_token.encode()).digest()

    @property
    def content(self) -> str:
        """The report as JSON text, as evidence keeps it."""
        error = self.failure and {
            "code": self.failure.code,
            "message": self.failure.message,
        }
        result = "null" if self.result is None else self.result
        return (
            f'{{"kind":"{self.kind}","result":{result},'
            f'"error":{json.dumps(error, ensure_ascii=False)},'
            f'"retryable":{json.dumps(self.is_retryable)}}}'
        )

    @property
    def digest(self) -> str:
        """SHA-256 (hex) by which a repeated report is known."""
        return hashlib.sha256(self.content.encode()).hexdigest()

    def decide(self, standing: Standing, *, revision: int, now: datetime) -> Move:
        """What becomes of the task; raises LeaseConflict for a cancel not asked for."""
        match self.kind:
            case ReportKind.SUCCEED:
                return lifecycle.succeed(standing, result=self.result or "null")
            case ReportKind.FAIL:
                return lifecycle.fail(
                    standing,
                    failure=self.failure or UNKNOWN_TO_WORKER,
                    is_retryable=self.is_retryable,
                    now=now,
                )
            case ReportKind.UNKNOWN:
                return lifecycle.worker_unsure(
                    standing, failure=self.failure or UNKNOWN_TO_WORKER
                )
            case ReportKind.CANCELLED:
                return self._acknowledge(standing, revision)

    @staticmethod
    def _acknowledge(standing: Standing, revision: int) -> Move:
        if not standing.cancel_requested:
            raise LeaseConflict(
                "Nobody asked to cancel this task: report succeed, fail or unknown.",
                state=State(standing.state),
                revision=revision,
                reason="STATE",
            )
        return lifecycle.acknowledge_cancel(standing)
