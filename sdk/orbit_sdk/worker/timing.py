"""Seconds that only grow, and waits that spread many workers out."""

import random
import time

# Unlike CLOCK_MONOTONIC it goes on while the machine sleeps, as the lease does.
_CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


def now() -> float:
    """Seconds since some fixed moment; no change of the wall clock touches it."""
    return time.clock_gettime(_CLOCK)


class Backoff:
    """Waits that double from `first` to `most` seconds, each with jitter."""

    def __init__(self, *, first: float, most: float) -> None:
        self._first = first
        self._most = most
        self._step = first

    def reset(self) -> None:
        self._step = self._first

    def next(self, *, at_least: float = 0.0) -> float:
        """How long to wait now: between half of this step and all of it."""
        step = min(self._step, self._most)
        self._step = min(step * 2, self._most)
        return max(at_least, step * random.uniform(0.5, 1.0))  # noqa: S311 - no secret
