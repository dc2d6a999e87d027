"""Who is at work: seen from the leases that are held, and from what nobody takes."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID

from orbit import clock
from tasks_app.domain.access import Reach
from tasks_app.models.statements.liveness import OVERDUE, QUEUES, WORKERS
from tasks_app.models.statements.run import rows

MOST_DUE = 1_000
LISTED = 50
# A queue that somebody serves is asked every few seconds.
PATIENCE = timedelta(minutes=1)


class WorkerAtWork(NamedTuple):
    """A worker by its name and instance, with the leases that it holds.

    `is_late` when a lease has seen no heartbeat for half its length; `all_workers` is
    the number of workers, more than are listed perhaps.
    """

    name: str
    instance_id: UUID
    leases: int
    seen_at: datetime
    expires_at: datetime
    is_late: bool
    all_workers: int


class QueueWaiting(NamedTuple):
    """A queue with due tasks; both numbers look no further than MOST_DUE of them."""

    id: UUID
    name: str
    is_paused: bool
    due: int
    oldest: datetime
    leases: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Liveness:
    """What is at work now; a worker without a lease is not known to the engine.

    `overdue` counts, in all namespaces, what maintenance should have done five seconds
    ago: any is a sign that it does not run.
    """

    now: datetime
    workers: list[WorkerAtWork]
    queues: list[QueueWaiting]
    overdue: int
    overdue_since: datetime | None

    @property
    def unlisted(self) -> int:
        """How many workers there are beside those that are listed."""
        return self.workers[0].all_workers - len(self.workers) if self.workers else 0

    def is_unserved(self, queue: QueueWaiting) -> bool:
        """Whether its tasks wait though they may run, and no worker runs any."""
        waits = self.now - queue.oldest
        return not queue.is_paused and queue.leases == 0 and waits > PATIENCE


def measure_liveness(reach: Reach) -> Liveness:
    """Who holds leases, which queues wait, and whether maintenance keeps up."""
    now = clock.now()
    place: dict[str, object] = {
        "namespace": reach.namespace_id,
        "queues": None if reach.queue_ids is None else list(reach.queue_ids),
        "now": now,
        "limit": LISTED,
        "most": MOST_DUE,
    }
    [(overdue, since)] = rows(OVERDUE, place)
    return Liveness(
        now=now,
        workers=[WorkerAtWork._make(row) for row in rows(WORKERS, place)],
        queues=[QueueWaiting._make(row) for row in rows(QUEUES, place)],
        overdue=overdue,
        overdue_since=since,
    )
