"""The leases a worker holds, timed so that none is believed longer than it is."""

import datetime as dt
import threading
from collections.abc import Iterable

from orbit_sdk.answers import Assignment
from orbit_sdk.worker.timing import now


class Lease:
    """One lease: until when it surely lasts, and when its handler must stop.

    Moments are of this process's monotonic clock. The claim's answer has two
    times of the database's clock, when it was claimed (`updated_at`) and when the
    lease ends; their difference, counted from when the request was sent, ends no
    later than the lease does. Neither host's wall clock has a part in it.
    """

    def __init__(
        self, assignment: Assignment, *, sent_at: float, lease_seconds: float
    ) -> None:
        self.assignment = assignment
        self.cancelled = threading.Event()
        self.cancel_requested = threading.Event()
        self.lost_because: str | None = None
        self._seconds = lease_seconds
        self._claimed_at = assignment.task.updated_at
        self._sent_at = sent_at
        self.expires_at = self._end_of(assignment.lease_expires_at, sent_at=sent_at)
        # By what was given: the server may give less than was asked for.
        given = max(0.0, self.expires_at - sent_at)
        self.margin = min(5.0, given * 0.2)
        self.interval = given / 3
        self.next_beat_at = sent_at + self.interval

    @property
    def stop_at(self) -> float:
        return self.expires_at - self.margin

    def renew(self, lease_expires_at: dt.datetime, *, sent_at: float) -> None:
        """The server said the lease now lasts until then, asked at `sent_at`."""
        self.next_beat_at = sent_at + self.interval
        self.expires_at = self._end_of(lease_expires_at, sent_at=sent_at)

    def _end_of(self, lease_expires_at: dt.datetime, *, sent_at: float) -> float:
        longest = sent_at + self._seconds
        if self._claimed_at is None:
            return longest
        since_claim = (lease_expires_at - self._claimed_at).total_seconds()
        return min(longest, self._sent_at + since_claim)

    def lose(self, reason: str) -> None:
        """Tell the handler to stop; the first reason stays."""
        if self.lost_because is None:
            self.lost_because = reason
            self.cancelled.set()

    def is_lost(self) -> bool:
        """Whether the handler must stop; true in time even if no thread looked."""
        if self.lost_because is None and now() >= self.stop_at:
            self.lose("it could not be renewed in time")
        return self.lost_because is not None


class Leases:
    """All leases this worker holds; shared between its threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held: dict[str, Lease] = {}

    def __len__(self) -> int:
        return len(self._held)

    def hold(self, leases: Iterable[Lease]) -> None:
        with self._lock:
            self._held.update({it.assignment.attempt_id: it for it in leases})

    def drop(self, leases: Iterable[Lease]) -> None:
        with self._lock:
            for lease in leases:
                self._held.pop(lease.assignment.attempt_id, None)

    def kept(self) -> list[Lease]:
        """Those not lost, the one that ends first in front."""
        with self._lock:
            held = list(self._held.values())
        return sorted(
            (it for it in held if it.lost_because is None), key=lambda it: it.stop_at
        )
