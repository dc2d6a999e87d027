"""Stops a handler in the middle, from another thread, wherever it waits."""

import signal
import threading
from types import FrameType


class Interrupted(BaseException):
    """Raised inside a handler whose time is up; no handler should catch it."""


class Interruption:
    """Armed while the handler runs; as a context, in the thread that runs it."""

    def __init__(self) -> None:
        self._thread = threading.get_ident()
        self._is_armed = False
        self._can_signal = threading.current_thread() is threading.main_thread()

    def __enter__(self) -> None:
        if self._can_signal:
            signal.signal(signal.SIGALRM, self._raise)
            self._is_armed = True

    def __exit__(self, *_error: object) -> None:
        # A signal that is under way finds this and raises nothing.
        self._is_armed = False

    def strike(self) -> None:
        """Raise Interrupted in the handler; too late is harmless."""
        if self._is_armed:
            signal.pthread_kill(self._thread, signal.SIGALRM)

    def _raise(self, _number: int, _frame: FrameType | None) -> None:
        if self._is_armed:
            self._is_armed = False
            raise Interrupted
