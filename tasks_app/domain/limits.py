"""The limits that an administrator sets on a queue."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueLimits:
    """All limits of a queue; None is no limit; times in milliseconds."""

    max_outstanding: int = 100_000
    max_concurrency: int | None = None
    rate_per_second: float | None = None
    key_concurrency: int | None = None
    lease_ms: int = 30_000
    is_paused: bool = False
