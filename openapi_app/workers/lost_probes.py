"""Probes of executions that nobody took: their messages may have been lost."""

import time
from uuid import UUID

from openapi_app.gateways.celery import send_probe
from tasks_app.public import OwnerKind, unclaimed_probes

OVERDUE_MS = 15_000


class LostProbes:
    """A maintenance pass that sends them again, each once in OVERDUE_MS.

    What it sent is kept in memory: where workers are away, and nobody takes anything,
    the broker is not filled with messages. Another process may send one more.
    """

    def __init__(self) -> None:
        self._sent: dict[UUID, float] = {}

    def __call__(self, *, limit: int) -> int:
        """Send up to `limit`; it ends at the first that the broker does not take."""
        overdue = unclaimed_probes(
            owner=OwnerKind.SCHEDULE, overdue_ms=OVERDUE_MS, limit=limit
        )
        now = time.monotonic()
        self._sent = {
            probe_id: at
            for probe_id, at in self._sent.items()
            if now - at < OVERDUE_MS / 1_000
        }
        sent = 0
        for probe_id in overdue:
            if probe_id in self._sent:
                continue
            if not send_probe(probe_id):
                break
            self._sent[probe_id] = now
            sent += 1
        return sent


resend_lost_probes = LostProbes()
