"""Keeps the engine honest: reaps lost leases, ends what is overdue, wakes what is due.

Independent of the queues and the scheduler that it repairs. Several may run at once:
every write is guarded and passes over what another one holds.
"""

import signal
import threading
from argparse import ArgumentParser

import structlog
from django.conf import settings
from django.core.management.base import BaseCommand
from django.db import DatabaseError, connection

from tasks_app.actions.expire_tasks import expire_tasks
from tasks_app.actions.promote_tasks import promote_tasks
from tasks_app.actions.reap_leases import reap_leases
from tasks_app.domain.maintenance import Pass, registered_passes

BATCH = 200
MAX_PAUSE_SECONDS = 10.0

log = structlog.get_logger("orbit.maintenance")

PASSES: dict[str, Pass] = {
    "leases_reaped": reap_leases,
    "tasks_expired": expire_tasks,
    "tasks_promoted": promote_tasks,
}


class Command(BaseCommand):
    """The command `maintain`."""

    help = "Reap lost leases, enforce deadlines, promote due tasks; until stopped."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """One pass, or until stopped."""
        parser.add_argument("--once", action="store_true", help="one pass, then end")

    def handle(self, *args: object, **options: object) -> None:
        """Run passes at the set interval; a database that is away is waited for."""
        del args
        if options["once"]:
            sweep()
            return
        stopped = threading.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: stopped.set())
        interval = settings.MAINTENANCE_INTERVAL_MS / 1000
        pause = interval
        log.info("maintenance_started", interval_s=interval)
        while not stopped.wait(pause):
            try:
                has_more = sweep()
                pause = 0.0 if has_more else interval
            except DatabaseError as error:
                pause = min(max(pause, interval) * 2, MAX_PAUSE_SECONDS)
                log.warning("database_unavailable", error=str(error), pause_s=pause)
                connection.close()


def sweep() -> bool:
    """One pass of everything; answers whether a full batch suggests that more waits."""
    has_more = False
    for name, act in (PASSES | registered_passes()).items():
        count = act(limit=BATCH)
        if count:
            log.info(name, count=count)
        has_more = has_more or count == BATCH
    return has_more
