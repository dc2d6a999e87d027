"""Waiting calls: a few at a time, without a database connection of their own."""

import threading
import time
from uuid import UUID

import structlog
from django.conf import settings
from django.db import Error, connection

from openapi_app.domain.words import ExecutionState
from tasks_app.public import State, standings_of

log = structlog.get_logger("openapi_app.waiting")

PAUSE_SECONDS = 0.2
UNSETTLED = {State.WAITING, State.RUNNING}
# Final, or nothing moves until a person decides.
SETTLED = set(ExecutionState) - {ExecutionState.ACCEPTED, ExecutionState.RUNNING}


class Watch:
    """Looks, for all waiting calls of this process at once, whether tasks settled.

    One thread, one connection and one statement per look; both end with the last call.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._awaited: dict[threading.Event, UUID] = {}
        self._is_running = False

    def wait(self, task_id: UUID, *, seconds: float) -> None:
        """Return when the task is settled, the time is up, or too many wait already.

        The caller's connection is closed: it occupies a thread, nothing else.
        """
        settled = threading.Event()
        with self._lock:
            if len(self._awaited) >= settings.OPEN_JOBS_MAX_WAITING:
                return
            self._awaited[settled] = task_id
            self._start()
        connection.close()
        try:
            settled.wait(seconds)
        finally:
            with self._lock:
                self._awaited.pop(settled, None)

    def _start(self) -> None:
        if not self._is_running:
            self._is_running = True
            threading.Thread(
                target=self._run, name="open-job-watch", daemon=True
            ).start()

    def _run(self) -> None:
        try:
            while awaited := self._still_awaited():
                self._look(awaited)
                time.sleep(PAUSE_SECONDS)
        except Error as fault:
            # Those who wait look for themselves, and say what they find.
            log.warning("watch interrupted", fault=type(fault).__name__)
            self._give_up()
        finally:
            connection.close()

    def _still_awaited(self) -> dict[threading.Event, UUID]:
        with self._lock:
            self._is_running = bool(self._awaited)
            return dict(self._awaited)

    def _look(self, awaited: dict[threading.Event, UUID]) -> None:
        standings = standings_of(set(awaited.values()))
        for settled, task_id in awaited.items():
            standing = standings.get(task_id)
            if standing is None or standing.state not in UNSETTLED:
                settled.set()

    def _give_up(self) -> None:
        with self._lock:
            self._is_running = False
            for settled in self._awaited:
                settled.set()


watch = Watch()
