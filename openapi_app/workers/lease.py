"""Keeps the lease of a running handler, and ends the handler when it must end."""

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

import structlog
from django.conf import settings
from django.db import DatabaseError, connection

from openapi_app.domain.handlers import Context
from openapi_app.workers import shutdown
from openapi_app.workers.interruption import Interruption
from orbit.errors import Conflict, NotFound
from tasks_app.public import Assignment, Reach, renew_lease

GLANCE_SECONDS = 0.2
BEATS_PER_LEASE = 3
# Room to report before the engine itself ends the attempt.
REPORT_SECONDS = 0.25
YIELD_SECONDS = 1.0
STUCK_SECONDS = 10.0

log = structlog.get_logger("openapi_app.execution")


class LeaseKeeper:
    """Renews the lease of one running handler, and watches the time it may take.

    Time is counted here from the claim; the engine's own clock is the database's.
    """

    def __init__(
        self, assignment: Assignment, *, context: Context, interruption: Interruption
    ) -> None:
        task = assignment.task
        self._assignment = assignment
        self._reach = Reach(namespace_id=task.namespace_id, queue_ids=None)
        self._context = context
        self._interruption = interruption
        now = time.monotonic()
        # What the task says was changed last is the moment of the claim.
        lease = (assignment.lease_expires_at - task.updated_at).total_seconds()
        allowed = min(
            timedelta(milliseconds=task.attempt_timeout_ms).total_seconds(),
            (task.deadline_at - task.updated_at).total_seconds(),
        )
        self._lease_seconds = lease
        self._lost_at = now + lease
        self._beat_at = now + lease / BEATS_PER_LEASE
        self._time_up_at = now + allowed - min(REPORT_SECONDS, allowed / 10)
        self._yield_at: float | None = None
        self._struck_at: float | None = None

    @property
    def has_struck(self) -> bool:
        """Whether the handler was stopped in the middle."""
        return self._struck_at is not None

    @property
    def next_at(self) -> float:
        """When there is something to do at the latest, on the monotonic clock."""
        return min(self._beat_at, self._time_up_at)

    def look(self, now: float) -> None:
        """Stop the handler if its time is up; renew its lease if that is due."""
        if self._struck_at is not None:
            self._watch_the_end(now)
        elif now >= min(self._time_up_at, self._lost_at) or self._must_yield(now):
            self._strike(now)
        if now >= self._beat_at:
            self._beat(now)

    def _must_yield(self, now: float) -> bool:
        """Let a handler finish for a while, then ask it, then end it."""
        if not shutdown.is_asked():
            return False
        if self._yield_at is None:
            self._yield_at = now + settings.WORKER_FINISH_MS / 1000
        if now >= self._yield_at:
            self._context.stopped.set()
        return now >= self._yield_at + YIELD_SECONDS

    def _strike(self, now: float) -> None:
        self._struck_at = now
        self._time_up_at = float("inf")
        self._context.stopped.set()
        self._interruption.strike()

    def _watch_the_end(self, now: float) -> None:
        # A handler that no signal reaches would hold this process for ever.
        if self._struck_at is not None and now > self._struck_at + STUCK_SECONDS:
            log.error(
                "worker_ends_stuck_handler",
                execution_id=self._context.execution_id.hex,
            )
            os.kill(os.getpid(), signal.SIGKILL)

    def _beat(self, now: float) -> None:
        self._beat_at = now + self._lease_seconds / BEATS_PER_LEASE
        try:
            renewal = renew_lease(
                attempt_id=self._assignment.attempt_id,
                lease_token=self._assignment.lease_token,
                reach=self._reach,
            )
        except (Conflict, NotFound):
            self._beat_at = float("inf")
            self._lost_at = now
        except DatabaseError:
            connection.close()
            self._beat_at = now + min(1.0, self._lease_seconds / BEATS_PER_LEASE)
        else:
            self._lost_at = now + self._lease_seconds
            if renewal.cancel_requested:
                self._context.cancel_requested.set()


class _Watch:
    """One thread of this process, which looks after the handler that runs now.

    It uses a connection of its own, and only when a handler outlives a heartbeat.
    """

    def __init__(self) -> None:
        self._change = threading.Condition()
        self._keeper: LeaseKeeper | None = None
        self._wakes_at = float("inf")
        self._thread: threading.Thread | None = None

    def begin(self, keeper: LeaseKeeper) -> None:
        """Look after this handler until end()."""
        with self._change:
            self._keeper = keeper
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._run, name="lease", daemon=True
                )
                self._thread.start()
            # A thread that looks up soon enough by itself is left asleep.
            elif self._wakes_at > min(
                keeper.next_at, time.monotonic() + GLANCE_SECONDS
            ):
                self._change.notify()

    def end(self) -> None:
        """The handler has ended; returns when no heartbeat is under way."""
        with self._change:
            self._keeper = None

    def _run(self) -> None:
        with self._change:
            while True:
                if self._keeper is None:
                    connection.close()
                self._sleep()
                if self._keeper is not None:
                    self._look(self._keeper)

    def _sleep(self) -> None:
        now = time.monotonic()
        if self._keeper is None:
            self._wakes_at = float("inf")
            self._change.wait()
        else:
            self._wakes_at = min(self._keeper.next_at, now + GLANCE_SECONDS)
            self._change.wait(max(0.0, self._wakes_at - now))

    def _look(self, keeper: LeaseKeeper) -> None:
        try:
            keeper.look(time.monotonic())
        except Exception:
            # The next handler must be looked after whatever became of this one.
            log.exception("lease_not_kept")


_watch = _Watch()


def _forget() -> None:
    """In a forked child there is no thread yet, and nobody holds its lock."""
    global _watch  # noqa: PLW0603 - the parent's lock may be held by another thread
    _watch = _Watch()


os.register_at_fork(after_in_child=_forget)


@contextmanager
def kept(keeper: LeaseKeeper) -> Iterator[None]:
    """While this lasts, the lease is renewed and the handler's time is watched."""
    _watch.begin(keeper)
    try:
        yield
    finally:
        _watch.end()
