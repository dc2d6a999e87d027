"""What a handler is given: its task, and whether it may go on."""

import threading

from orbit_sdk.answers import Task
from orbit_sdk.exact import Json
from orbit_sdk.worker.leases import Lease
from orbit_sdk.worker.timing import now
from orbit_sdk.worker.verdict import LeaseLost


class Context:
    """One attempt at one task."""

    def __init__(self, lease: Lease) -> None:
        self._lease = lease

    @property
    def task(self) -> Task:
        return self._lease.assignment.task

    @property
    def payload(self) -> Json:
        return self.task.payload

    @property
    def attempt_id(self) -> str:
        return self._lease.assignment.attempt_id

    @property
    def attempt_number(self) -> int:
        return self._lease.assignment.attempt_number

    @property
    def cancelled(self) -> threading.Event:
        """Set when the attempt must stop: its lease is over or about to be."""
        return self._lease.cancelled

    @property
    def cancel_requested(self) -> threading.Event:
        """Set when someone asked to cancel; raise Cancelled if nothing was done."""
        return self._lease.cancel_requested

    @property
    def remaining_seconds(self) -> float:
        """How long the handler may go on if the lease is not renewed again."""
        return max(0.0, self._lease.stop_at - now())

    def check(self) -> None:
        """Raise LeaseLost if the attempt must stop; call it before each effect."""
        if self._lease.is_lost():
            raise LeaseLost(self._lease.lost_because or "")

    def __repr__(self) -> str:
        return f"Context(task_id={self.task.id!r}, attempt_id={self.attempt_id!r})"
