"""The limits that an administrator sets on a queue."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueLimits:
    """All limits of a queue; None is no limit; times in milliseconds.

    `second_approver`: a review is proposed by one person and approved by another within
    `approval_seconds`. Not `reviewer_may_be_submitter`: who submitted a task neither
    reviews it nor approves its review.
    """

    max_outstanding: int = 100_000
    max_concurrency: int | None = None
    rate_per_second: float | None = None
    key_concurrency: int | None = None
    lease_ms: int = 30_000
    is_paused: bool = False
    reviewer_may_be_submitter: bool = True
    second_approver: bool = False
    approval_seconds: int = 86_400
