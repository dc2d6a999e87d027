"""What a contestant of a benchmark is, and how its rounds become one line."""

import statistics
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, Protocol

from bench.servers import Servers

Kind = Literal["floor", "orbit", "peer", "bare"]


@dataclass(frozen=True)
class Round:
    """One measured round: a rate, and latencies where single calls were timed."""

    rate: float
    latencies_ms: list[float] = field(default_factory=list)
    note: str = ""


class Contestant(Protocol):
    """One line of the table; every round is setup, run, teardown."""

    name: str
    kind: Kind
    config: str

    def setup(self, servers: Servers, *, seconds: float) -> None:
        """Make fresh data and start processes; not timed."""

    def run(self, *, seconds: float) -> Round:
        """Measure for about so long."""

    def teardown(self) -> None:
        """Stop what setup started, also after a failure."""


@dataclass(frozen=True)
class Target:
    """A promise: the rate of `line` is at least `ratio` of that of `against`."""

    line: str
    against: str
    ratio: float


@dataclass(frozen=True)
class Ceiling:
    """A promise: the measure of `line` is at most `most`."""

    line: str
    measure: Literal["p99 ms", "median"]
    most: float


@dataclass(frozen=True)
class Case:
    """A benchmark: contestants that do the same work."""

    name: str
    title: str
    unit: str
    contestants: Callable[[], list[Contestant]]
    targets: tuple[Target, ...] = ()
    ceilings: tuple[Ceiling, ...] = ()


@dataclass
class Line:
    """A contestant's result over all rounds."""

    name: str
    kind: Kind
    config: str
    rates: list[float] = field(default_factory=list)
    latencies_ms: list[float] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, measured: Round) -> None:
        """Take in one more round."""
        self.rates.append(measured.rate)
        self.latencies_ms.extend(measured.latencies_ms)
        if measured.note:
            self.notes.append(measured.note)

    @property
    def median(self) -> float:
        """Of the rounds' rates; 0 when no round came through."""
        return statistics.median(self.rates) if self.rates else 0.0

    def percentile(self, percent: float) -> float | None:
        """Of all single calls, in milliseconds; None when calls were not timed."""
        if not self.latencies_ms:
            return None
        ordered = sorted(self.latencies_ms)
        return ordered[min(len(ordered) - 1, int(len(ordered) * percent / 100))]
