"""Keep the last calls of tokens, after the answers and at nobody's expense.

A call is put into a buffer of its process, which a thread empties into the database.
What the buffer holds when a process is killed is lost, and nothing else is.
"""

import os
import threading
import time
from collections import deque
from collections.abc import Callable

import structlog
from django.conf import settings
from django.db import Error, connection, transaction

from tokens_app.domain.call import Call
from tokens_app.models import TokenCall

log = structlog.get_logger("orbit.calls")

BUFFERED = 10_000
BATCH = 500

# When it is full the oldest calls make room: a slow database costs log lines only.
_buffer: deque[Call] = deque(maxlen=BUFFERED)


def record_call(call: Call) -> None:
    """Note the call; never waits, never fails."""
    _buffer.append(call)
    _writer.wake()


def write_calls() -> int:
    """Write what this process has noted so far; answers how many calls that were.

    A batch that the database refuses is logged and dropped.
    """
    written = 0
    while batch := _take(BATCH):
        try:
            with transaction.atomic():
                TokenCall.objects.write(batch)
        except Error as error:
            log.warning("calls not kept", count=len(batch), fault=str(error).strip())
        else:
            written += len(batch)
    return written


def _take(count: int) -> list[Call]:
    batch: list[Call] = []
    while _buffer and len(batch) < count:
        batch.append(_buffer.popleft())
    return batch


class _Writer:
    """One thread of this process, begun with its first call."""

    def __init__(self) -> None:
        self.is_awake = False
        self.lock = threading.Lock()

    def wake(self) -> None:
        """Have the buffer written after the interval; 0 leaves it to write_calls()."""
        if self.is_awake or not settings.CALL_LOG_INTERVAL_MS:
            return
        with self.lock:
            if not self.is_awake:
                self.is_awake = _start(self.run)

    def run(self) -> None:
        """Write and end; the next call begins another."""
        time.sleep(settings.CALL_LOG_INTERVAL_MS / 1000)
        # First asleep, then writing: a call that comes now is written by the next.
        self.is_awake = False
        try:
            write_calls()
        finally:
            connection.close()


def _start(run: Callable[[], None]) -> bool:
    try:
        threading.Thread(target=run, name="call-log", daemon=True).start()
    except RuntimeError:
        # The system gives no thread now; the next call asks again.
        return False
    return True


def _forget() -> None:
    """In a forked child: the parent's calls and thread stay with the parent."""
    global _writer  # noqa: PLW0603 - its lock may be held by a thread that is not here
    _buffer.clear()
    _writer = _Writer()


_writer = _Writer()
os.register_at_fork(after_in_child=_forget)
