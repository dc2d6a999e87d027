"""The threads in which handlers run."""

import queue
import threading
from collections.abc import Callable, Mapping

from orbit_sdk.requests import AttemptError, Report
from orbit_sdk.worker.context import Context
from orbit_sdk.worker.delivery import Done
from orbit_sdk.worker.leases import Lease
from orbit_sdk.worker.verdict import conclude, failure, not_started

Handler = Callable[[Context], object]


class Lanes:
    """Runs each given lease's handler in one of `count` threads.

    The threads are daemons: a handler that does not end cannot keep the process
    alive, its task is left to its lease.
    """

    def __init__(
        self,
        handlers: Mapping[tuple[str, str], Handler],
        *,
        count: int,
        finished: "queue.SimpleQueue[Done | None]",
    ) -> None:
        self._handlers = handlers
        self._finished = finished
        self._given: queue.SimpleQueue[Lease | None] = queue.SimpleQueue()
        self._threads = [
            threading.Thread(target=self._run, name=f"orbit-lane-{number}", daemon=True)
            for number in range(count)
        ]
        for thread in self._threads:
            thread.start()

    def give(self, lease: Lease) -> None:
        self._given.put(lease)

    def take_back(self) -> list[Done]:
        """Those whose handler has not been started, and now will not be."""
        back: list[Done] = []
        while True:
            try:
                lease = self._given.get_nowait()
            except queue.Empty:
                return back
            if lease is not None:
                said = not_started(lease.assignment, "The worker was stopped.")
                back.append(Done(lease=lease, report=said))

    def close(self) -> None:
        """Let the threads end, each once its handler has."""
        for _ in self._threads:
            self._given.put(None)

    def _run(self) -> None:
        while (lease := self._given.get()) is not None:
            self._finished.put(Done(lease=lease, report=self._conclude(lease)))

    def _conclude(self, lease: Lease) -> Report:
        assignment = lease.assignment
        if lease.is_lost():
            return not_started(assignment, f"The lease: {lease.lost_because}.")
        task = assignment.task
        handler = self._handlers.get((task.handler, task.handler_version))
        if handler is None:
            error = AttemptError(
                code="NO_HANDLER", message=f"{task.handler} {task.handler_version}"
            )
            return failure(assignment, error, retryable=True)
        return conclude(handler, Context(lease), assignment)
