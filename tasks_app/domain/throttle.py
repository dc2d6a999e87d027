"""How many tasks of a limited queue may start now."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Generic, Protocol, TypeVar

# With a limit on each key, more candidates are looked at than may start.
KEY_WINDOW = 4
MAX_WINDOW = 400


class Keyed(Protocol):
    """What may carry a concurrency key."""

    @property
    def concurrency_key(self) -> str | None:
        """The key, or None."""


K = TypeVar("K", bound=Keyed)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The limits of a queue; None where there is none."""

    slots: int | None
    rate_per_second: float | None
    per_key: int | None

    @property
    def any(self) -> bool:
        """Whether claims must be ordered one after the other."""
        return (self.slots, self.rate_per_second, self.per_key) != (None, None, None)

    def room(self, *, wanted: int, slots_held: int, bucket: "Bucket") -> int:
        """How many of `wanted` tasks slots and rate allow now."""
        room = wanted
        if self.slots is not None:
            room = min(room, self.slots - slots_held)
        if self.rate_per_second is not None:
            room = min(room, math.floor(bucket.tokens))
        return max(0, room)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bucket:
    """A token bucket that holds at most one second's worth, and at least one."""

    tokens: float
    refilled_at: datetime

    def refilled(self, *, limits: Limits, now: datetime) -> "Bucket":
        """The bucket with what has flowed in until `now`."""
        rate = limits.rate_per_second
        if rate is None:
            return Bucket(tokens=self.tokens, refilled_at=now)
        elapsed = max(0.0, (now - self.refilled_at).total_seconds())
        return Bucket(
            tokens=min(max(rate, 1.0), self.tokens + elapsed * rate), refilled_at=now
        )

    def after(self, started: int) -> "Bucket":
        """The bucket after `started` tasks took a token each."""
        return Bucket(
            tokens=max(0.0, self.tokens - started), refilled_at=self.refilled_at
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Room(Generic[K]):
    """How many tasks may start, and which concurrency keys are held how often."""

    tasks: int
    held_keys: Mapping[str, int]
    limits: Limits

    @property
    def busy_keys(self) -> list[str]:
        """The keys that are at their limit."""
        limit = self.limits.per_key
        if limit is None:
            return []
        return [key for key, held in self.held_keys.items() if held >= limit]

    @property
    def window(self) -> int:
        """How many candidates to look at."""
        if self.limits.per_key is None:
            return self.tasks
        return min(self.tasks * KEY_WINDOW, MAX_WINDOW)

    def fit(self, candidates: Iterable[K]) -> list[K]:
        """The candidates that may start, in their order, no key beyond its limit."""
        limit = self.limits.per_key
        held = dict(self.held_keys)
        chosen: list[K] = []
        for candidate in candidates:
            key = candidate.concurrency_key
            if limit is not None and key is not None:
                if held.get(key, 0) >= limit:
                    continue
                held[key] = held.get(key, 0) + 1
            chosen.append(candidate)
        return chosen[: self.tasks]
