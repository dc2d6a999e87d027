"""The worker's loop: claim, run, report, until told to stop."""

import logging
import os
import queue
import signal
import socket
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import Literal

from orbit_sdk.client import Client
from orbit_sdk.errors import OrbitError, UnreadableAnswer
from orbit_sdk.requests import Claim, HandlerFilter, WorkerIdentity
from orbit_sdk.worker.delivery import PASSING, Delivery, Done
from orbit_sdk.worker.keeper import Keeper
from orbit_sdk.worker.lanes import Handler, Lanes
from orbit_sdk.worker.leases import Lease, Leases
from orbit_sdk.worker.probe import SUFFIX, Probe, as_handler
from orbit_sdk.worker.timing import Backoff, now

_MAX_CLAIM = 100
_OK = 200
_FIRST_WAIT_SECONDS = 0.05
# How long reports may still be offered when the grace is over.
_LAST_WORDS_SECONDS = 5.0

Until = Literal["stopped", "empty", "claimed"]

logger = logging.getLogger("orbit_sdk.worker")


@dataclass(frozen=True, kw_only=True)
class WorkerOptions:
    """How a worker works.

    concurrency: handlers that run at once, each in a thread.
    batch: tasks taken and reported together; 1 takes each as soon as it can.
    poll_seconds: the longest wait between two looks into an empty queue.
    grace_seconds: how long running handlers may go on after a stop.
    evidence_seconds: how long a report is still offered after its lease ended.
    report_delay_seconds: how long a finished task of a batch waits for the others.
    """

    lease_ms: int = 30_000
    concurrency: int = 1
    batch: int = 1
    poll_seconds: float = 1.0
    grace_seconds: float = 20.0
    evidence_seconds: float = 60.0
    report_delay_seconds: float = 0.1

    def __post_init__(self) -> None:
        if self.concurrency < 1 or not 1 <= self.batch <= _MAX_CLAIM:
            raise ValueError("concurrency is at least 1, batch 1 to 100.")


class Worker:
    """Does the tasks of one queue with the handlers registered here.

        worker = Worker(client=client, queue_id=queue_id, name="mailer")

        @worker.handler("mail.send", "v1")
        def send(context: Context) -> object: ...

        worker.run()

    A handler's return value is the result. See the README for what each
    exception means and what becomes of tasks when the worker is stopped.
    """

    def __init__(
        self,
        *,
        client: Client,
        queue_id: str,
        name: str | None = None,
        options: WorkerOptions | None = None,
    ) -> None:
        self._client = client
        self._queue_id = queue_id
        self._options = options or WorkerOptions()
        self._identity = WorkerIdentity(
            name=name or f"{socket.gethostname()}:{os.getpid()}",
            instance_id=uuid.uuid4().hex,
        )
        self._handlers: dict[tuple[str, str], Handler] = {}
        self._leases = Leases()
        self._finished: queue.SimpleQueue[Done | None] = queue.SimpleQueue()
        self._delivery = Delivery(
            client, evidence_seconds=self._options.evidence_seconds
        )
        self._idle = Backoff(
            first=min(_FIRST_WAIT_SECONDS, self._options.poll_seconds),
            most=self._options.poll_seconds,
        )
        self._next_claim_at = 0.0
        self._answer_was_lost = False
        self._claiming = False
        self._grace_ends_at: float | None = None
        self._fault: OrbitError | None = None

    def handler(self, name: str, version: str) -> Callable[[Handler], Handler]:
        """Register the decorated function for one handler name and version."""

        def register(function: Handler) -> Handler:
            if (name, version) in self._handlers:
                raise ValueError(f"{name} {version} has a handler already.")
            self._handlers[name, version] = function
            return function

        return register

    def probe(self, name: str, version: str) -> Callable[[Probe], Probe]:
        """Register the decorated function to look whether a task took effect.

        It is for tasks of the handler `name` that await a review, and only reads.
        """

        def register(function: Probe) -> Probe:
            self.handler(name + SUFFIX, version)(as_handler(function))
            return function

        return register

    def run(self) -> None:
        """Work until `stop`, SIGTERM or SIGINT; raise what makes claiming senseless."""
        self._serve(until="stopped")

    def drain(self) -> None:
        """Work until the queue gives nothing, or as `run` until told to stop."""
        self._serve(until="empty")

    def run_once(self) -> None:
        """Claim once, do what that gave, report it."""
        self._serve(until="claimed")

    def stop(self) -> None:
        """Take no more tasks; those running may finish within the grace.

        A second call ends the grace. May be called from any thread or handler.
        """
        grace = 0.0 if self._is_stopping else self._options.grace_seconds
        self._grace_ends_at = now() + grace
        self._delivery.give_up_at = self._grace_ends_at + _LAST_WORDS_SECONDS
        self._finished.put(None)

    @property
    def _is_stopping(self) -> bool:
        return self._grace_ends_at is not None

    def _serve(self, *, until: Until) -> None:
        if not self._handlers:
            raise ValueError("Register a handler first.")
        self._claiming = True
        lanes = Lanes(
            self._handlers, count=self._options.concurrency, finished=self._finished
        )
        with _stopped_by_signals(self.stop), Keeper(self._client, self._leases):
            while self._has_more_to_do():
                if self._may_claim():
                    self._claim(lanes, until=until)
                self._report(self._gather())
            self._report([*self._gather(), *lanes.take_back()])
            lanes.close()
        if len(self._leases):
            logger.warning(
                "%d tasks are left to their leases: their handlers did not end within "
                "the grace.",
                len(self._leases),
            )
        if self._fault is not None:
            raise self._fault

    def _has_more_to_do(self) -> bool:
        if self._grace_ends_at is None:
            return self._claiming or len(self._leases) > 0
        return len(self._leases) > 0 and now() < self._grace_ends_at

    def _may_claim(self) -> bool:
        if not self._claiming or self._is_stopping:
            return False
        return self._has_room() and now() >= self._next_claim_at

    def _has_room(self) -> bool:
        # Half a batch at least, or reports and claims would shrink to single ones.
        return self._room() >= (self._options.batch + 1) // 2

    def _room(self) -> int:
        most = max(self._options.batch, self._options.concurrency)
        return min(most - len(self._leases), _MAX_CLAIM)

    def _claim(self, lanes: Lanes, *, until: Until) -> None:
        claim = Claim(
            worker=self._identity,
            # Tasks of an answer that got lost are leased to nobody: risk one, not all.
            max_tasks=1 if self._answer_was_lost else self._room(),
            lease_ms=self._options.lease_ms,
            handlers=tuple(
                HandlerFilter(handler=name, handler_version=version)
                for name, version in self._handlers
            ),
        )
        sent_at = now()
        try:
            given = self._client.claim_tasks(self._queue_id, claim).assignments
        except OrbitError as error:
            self._take_refusal(error)
            return
        self._answer_was_lost = False
        seconds = self._options.lease_ms / 1_000
        leases = [Lease(it, sent_at=sent_at, lease_seconds=seconds) for it in given]
        self._leases.hold(leases)
        for lease in leases:
            lanes.give(lease)
        self._claiming = until == "stopped" or (until == "empty" and bool(given))
        self._pace(taken=len(given), asked=claim.max_tasks)

    def _pace(self, *, taken: int, asked: int) -> None:
        if taken:
            self._idle.reset()
        if taken < asked:
            self._next_claim_at = now() + self._idle.next()

    def _take_refusal(self, error: OrbitError) -> None:
        self._answer_was_lost = error.outcome_unknown
        # Assignments that cannot be read would be leased and lost, again and again.
        is_foreign = isinstance(error, UnreadableAnswer) and error.status == _OK
        if is_foreign or not isinstance(error, PASSING):
            # It will not pass: finish what runs, then tell the caller.
            self._fault = error
            self._claiming = False
            return
        logger.warning("No tasks for now: %s", error)
        told = error.details.get("retry_after_ms", 0)
        at_least = told / 1_000 if isinstance(told, int) else 0.0
        self._next_claim_at = now() + self._idle.next(at_least=at_least)

    def _gather(self) -> list[Done]:
        """What has finished; waits for the first, then shortly for its batch."""
        done: list[Done] = []
        most = max(self._options.batch, self._options.concurrency)
        wait = self._patience()
        until = float("inf")
        while len(done) < min(most, max(1, len(self._leases))):
            try:
                finished = self._finished.get(timeout=wait)
            except queue.Empty:
                break
            if finished is None:
                break
            if not done:
                until = now() + self._collecting_seconds()
            done.append(finished)
            wait = max(0.0, until - now())
        return done

    def _patience(self) -> float | None:
        """Until when nothing but a finished handler needs this thread."""
        if self._grace_ends_at is not None:
            return max(0.0, self._grace_ends_at - now()) if len(self._leases) else 0.0
        if self._claiming and self._has_room():
            return max(0.0, self._next_claim_at - now())
        return None if len(self._leases) else 0.0

    def _collecting_seconds(self) -> float:
        return self._options.report_delay_seconds if self._options.batch > 1 else 0.0

    def _report(self, done: list[Done]) -> None:
        if done:
            self._delivery.deliver(done)
            self._leases.drop(it.lease for it in done)


@contextmanager
def _stopped_by_signals(stop: Callable[[], None]) -> Iterator[None]:
    """SIGTERM and SIGINT call `stop`; only the main thread can have that."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def on_signal(_number: int, _frame: FrameType | None) -> None:
        stop()

    before = {
        number: signal.signal(number, on_signal)
        for number in (signal.SIGTERM, signal.SIGINT)
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
