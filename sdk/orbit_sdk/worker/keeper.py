"""Two threads that keep leases: one renews them, one says when that did not work."""

import logging
import threading
from types import TracebackType
from typing import Self

from orbit_sdk import calls
from orbit_sdk.client import Client
from orbit_sdk.errors import NotFound, OrbitError, StateConflict
from orbit_sdk.worker.leases import Lease, Leases
from orbit_sdk.worker.timing import now

_FINAL = frozenset({"SUCCEEDED", "FAILED", "CANCELLED"})
_LOOK_SECONDS = 0.05

logger = logging.getLogger("orbit_sdk.worker")


class Keeper:
    """Renews every held lease in the background while entered."""

    def __init__(self, client: Client, leases: Leases) -> None:
        self._client = client
        self._leases = leases
        self._closed = threading.Event()
        # A renewal that hangs must not keep the handlers from being told in time.
        self._threads = [
            threading.Thread(target=self._renew, name="orbit-renew", daemon=True),
            threading.Thread(target=self._watch, name="orbit-watch", daemon=True),
        ]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._closed.set()

    def _watch(self) -> None:
        while not self._closed.wait(_LOOK_SECONDS):
            for lease in self._leases.kept():
                if lease.is_lost():
                    logger.warning(
                        "The lease is lost, task %s: %s",
                        lease.assignment.task.id,
                        lease.lost_because,
                    )

    def _renew(self) -> None:
        while not self._closed.wait(_LOOK_SECONDS):
            due = [it for it in self._leases.kept() if now() >= it.next_beat_at]
            try:
                self._beat_each(due)
            except RuntimeError:
                # The caller closed the client after the worker had ended.
                if not self._closed.is_set():
                    raise

    def _beat_each(self, leases: list[Lease]) -> None:
        for lease in leases:
            if not self._closed.is_set():
                self._beat(lease)

    def _beat(self, lease: Lease) -> None:
        sent_at = now()
        # Others wait for their turn: no single one may take longer than its share.
        patience = max(0.05, min(lease.interval, lease.stop_at - sent_at))
        call = calls.heartbeat(
            lease.assignment.attempt_id, lease_token=lease.assignment.lease_token
        )
        try:
            answer = self._client.send(call, timeout_seconds=patience)
        except StateConflict as conflict:
            lease.lose(_why(conflict))
        except NotFound as error:
            lease.lose(error.message)
        except OrbitError as error:
            logger.warning("No heartbeat, task %s: %s", lease.assignment.task.id, error)
            lease.next_beat_at = now() + lease.interval / 4
        else:
            lease.renew(answer.lease_expires_at, sent_at=sent_at)
            if answer.cancel_requested:
                lease.cancel_requested.set()


def _why(conflict: StateConflict) -> str:
    if conflict.state in _FINAL:
        return f"the task is done: {conflict.state}"
    return conflict.message
