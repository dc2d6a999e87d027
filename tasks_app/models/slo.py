"""How recovery stands: what waits for people, since when, how fast they settle it."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID

from orbit import clock
from tasks_app.domain.access import Reach
from tasks_app.domain.lifecycle import OwnerKind
from tasks_app.domain.ownership import held_up_by
from tasks_app.models.statements.run import rows
from tasks_app.models.statements.slo import (
    CONTRADICTIONS,
    HOURS,
    OWNERS_IN_REVIEW,
    QUEUES,
    TIME_TO_SETTLE,
)

# More settlements than these newest ones do not move a percentile that matters.
SAMPLE = 10_000
CHUNK = 5_000
HOURS_SHOWN = 24


class QueueInReview(NamedTuple):
    """One queue: each task that needs review holds one unit of its quota."""

    queue_id: UUID
    name: str
    max_outstanding: int
    held: int
    oldest_task_id: UUID | None
    oldest_since: datetime | None
    inflow_hour: int
    inflow_day: int
    settled_hour: int
    settled_day: int
    measured_at: datetime


class TimeToSettle(NamedTuple):
    """From needing review to a person's decision, of the newest settlements."""

    settled: int
    p50_ms: float | None
    p95_ms: float | None


class ContradictionCount(NamedTuple):
    """Late evidence that disagreed with an outcome, in the last hour and day."""

    hour: int
    day: int


class HourOfReview(NamedTuple):
    """How many came to need review, and how many people settled, in one hour."""

    came: int
    settled: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RecoverySLO:
    """What an operator watches; `queues` in the order of what they hold."""

    measured_at: datetime
    window: timedelta
    queues: list[QueueInReview]
    time_to_settle: TimeToSettle
    serial_jobs_blocked: int
    contradictions: ContradictionCount

    @property
    def needs_review(self) -> int:
        """How many tasks wait for a person."""
        return sum(queue.held for queue in self.queues)

    @property
    def oldest(self) -> QueueInReview | None:
        """The queue with the task that has waited longest."""
        waiting = [queue for queue in self.queues if queue.oldest_since is not None]
        return min(waiting, key=lambda it: (it.oldest_since, it.name), default=None)


def measure(reach: Reach, *, window: timedelta) -> RecoverySLO:
    """How recovery stands now; four statements, and what owners ask for themselves."""
    now = clock.now()
    place = _place(reach, now)
    queues = [QueueInReview._make(row) for row in rows(QUEUES, place)]
    [(settled, percentiles)] = rows(
        TIME_TO_SETTLE, {**place, "window": window, "sample": SAMPLE}
    )
    p50, p95 = percentiles or (None, None)
    [disagreed] = rows(CONTRADICTIONS, place)
    return RecoverySLO(
        measured_at=now,
        window=window,
        queues=queues,
        time_to_settle=TimeToSettle(settled, p50, p95),
        serial_jobs_blocked=_blocked(place),
        contradictions=ContradictionCount._make(disagreed),
    )


def by_hour(reach: Reach) -> list[HourOfReview]:
    """The last 24 hours, the oldest first; the last one ends now."""
    counted = {
        (column, hours_ago): count
        for column, hours_ago, count in rows(HOURS, _place(reach, clock.now()))
    }
    return [
        HourOfReview(counted.get(("came", ago), 0), counted.get(("settled", ago), 0))
        for ago in reversed(range(HOURS_SHOWN))
    ]


def _place(reach: Reach, now: datetime) -> dict[str, object]:
    return {
        "namespace": reach.namespace_id,
        "queues": None if reach.queue_ids is None else list(reach.queue_ids),
        "now": now,
    }


def _blocked(place: dict[str, object]) -> int:
    owners: dict[OwnerKind, list[UUID]] = {}
    for kind, owner_id in rows(OWNERS_IN_REVIEW, place):
        owners.setdefault(OwnerKind(kind), []).append(owner_id)
    blocked: set[UUID] = set()
    for kind, ids in owners.items():
        for start in range(0, len(ids), CHUNK):
            blocked |= held_up_by(kind, ids[start : start + CHUNK])
    return len(blocked)
