"""What happened to a task on one axis of time: a drawing, and the same as a table."""

import itertools
import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils.translation import gettext

from orbit.words import Word
from tasks_app.models import Attempt, Evidence
from tasks_app.pages import words

# The drawing's own units.
WIDTH = 1_000
LEFT, RIGHT = 148, 24
LANE = 34
TOP = 12
AXIS = 34
NEAREST_TICKS = 76
MOST_LANES = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Happening:
    """One thing that happened: in the table a row, in the drawing a mark or a bar.

    `lane` is the row of the drawing that it belongs to; `kind` says how it looks.
    """

    at: datetime
    lane: str
    kind: str
    what: Word
    detail: str = ""
    until: datetime | None = None
    offset: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A happening where it stands in the drawing."""

    x: float
    y: float
    width: float
    happening: Happening


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """A row of the drawing."""

    name: str
    y: float
    marks: Sequence[Mark]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick:
    """A moment on the axis, told as the time since acceptance."""

    x: float
    told: str
    anchor: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """The drawing and the table; `has_gaps` says that pauses are drawn shorter."""

    lanes: Sequence[Lane]
    ticks: Sequence[Tick]
    height: float
    floor: float
    happenings: Sequence[Happening]
    is_shortened: bool
    hidden_lanes: int


def happenings_of_attempts(
    attempts: Iterable[Attempt], *, now: datetime
) -> Iterator[Happening]:
    """Each attempt as a bar, with its last heartbeat and the end of its lease."""
    for it in attempts:
        lane = gettext("Attempt %(number)s") % {"number": it.number}
        yield Happening(
            at=it.started_at,
            until=it.ended_at or now,
            lane=lane,
            kind=f"attempt is-{it.outcome.lower()}",
            what=words.STARTED,
            detail=it.worker_name,
        )
        if it.heartbeat_at is not None:
            yield Happening(
                at=it.heartbeat_at,
                lane=lane,
                kind="heartbeat",
                what=words.HEARTBEAT,
                detail=it.worker_name,
            )
        if it.lease_expires_at <= (it.ended_at or now):
            yield Happening(
                at=it.lease_expires_at, lane=lane, kind="lease", what=words.LEASE_END
            )
        if it.ended_at is not None:
            yield Happening(
                at=it.ended_at,
                lane=lane,
                kind="ended",
                what=words.OUTCOMES[it.outcome],
                detail=it.error_code or "",
            )


def happenings_of_evidence(evidence: Iterable[Evidence]) -> Iterator[Happening]:
    """Each late report, and what each probe found."""
    for it in evidence:
        yield Happening(
            at=it.received_at,
            lane=gettext("Evidence"),
            kind="evidence",
            what=words.evidence_in_words(kind=it.kind, content=it.content),
        )


def draw(happenings: Iterable[Happening], *, begin: datetime) -> Timeline:
    """The timeline of these happenings, told from `begin`, the task's acceptance."""
    told = sorted(
        (_told(it, begin) for it in happenings), key=lambda it: (it.at, it.kind)
    )
    moments = sorted({begin, *(m for it in told for m in (it.at, it.until) if m)})
    places = _places(moments)
    names = list(dict.fromkeys(it.lane for it in sorted(told, key=_order)))
    hidden = _hidden(names, told)
    lanes = [
        _lane(name, TOP + LANE * row, told, places)
        for row, name in enumerate(name for name in names if name not in hidden)
    ]
    floor = TOP + LANE * len(lanes)
    return Timeline(
        lanes=lanes,
        ticks=_ticks(moments, places, begin),
        height=floor + AXIS,
        floor=floor,
        happenings=told,
        is_shortened=_is_shortened(moments),
        hidden_lanes=len(hidden),
    )


def since(moment: datetime, begin: datetime) -> str:
    """How long after `begin`, short and without a language: +1.25 s, +3 h 05 min."""
    seconds = (moment - begin).total_seconds()
    sign = "+" if seconds >= 0 else "-"
    return sign + _length(abs(seconds))


def _length(seconds: float) -> str:
    if seconds < 60:  # noqa: PLR2004 - seconds in a minute
        return f"{seconds:.3f}".rstrip("0").rstrip(".") + " s"
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    if days:
        return f"{days} d {hours} h"
    if hours:
        return f"{hours} h {minutes:02} min"
    return f"{minutes} min {rest:02} s"


def _hidden(names: Sequence[str], told: Sequence[Happening]) -> Collection[str]:
    """The earliest attempts, where there are too many to draw."""
    attempts = {it.lane for it in told if it.until is not None}
    ordered = [name for name in names if name in attempts]
    return ordered[: max(0, len(names) - MOST_LANES)]


def _told(it: Happening, begin: datetime) -> Happening:
    return Happening(
        at=it.at,
        until=it.until,
        lane=it.lane,
        kind=it.kind,
        what=it.what,
        detail=it.detail,
        offset=since(it.at, begin),
    )


def _order(it: Happening) -> tuple[int, datetime]:
    is_attempt = it.kind.startswith(("attempt", "heartbeat", "lease", "ended"))
    return (1 if is_attempt else 0 if it.kind == "operation" else 2, it.at)


def _lane(
    name: str, y: float, told: Sequence[Happening], places: dict[datetime, float]
) -> Lane:
    return Lane(
        name=name,
        y=y,
        marks=[
            Mark(
                x=places[it.at],
                y=y,
                width=max(3.0, places[it.until] - places[it.at]) if it.until else 0,
                happening=it,
            )
            # Bars first, so that marks lie upon them.
            for it in sorted(told, key=lambda it: it.until is None)
            if it.lane == name
        ],
    )


def _places(moments: Sequence[datetime]) -> dict[datetime, float]:
    """Where each moment stands: the longer a pause, the wider, but not in proportion.

    A second beside three hours would be invisible otherwise.
    """
    weights = [_weight(after - before) for before, after in itertools.pairwise(moments)]
    unit = (WIDTH - LEFT - RIGHT) / (sum(weights) or 1)
    x = float(LEFT)
    places = {moments[0]: x}
    for moment, weight in zip(moments[1:], weights, strict=True):
        x += weight * unit
        places[moment] = round(x, 1)
    return places


def _weight(pause: timedelta) -> float:
    return 0.5 + math.log1p(pause.total_seconds() * 10)


def _is_shortened(moments: Sequence[datetime]) -> bool:
    return len(moments) > 2  # noqa: PLR2004 - between two moments all is in proportion


def _ticks(
    moments: Sequence[datetime], places: dict[datetime, float], begin: datetime
) -> list[Tick]:
    """As many moments as have room for their words, the first and the last included."""
    ticks = [moments[0]]
    for moment in moments[1:-1]:
        is_free = places[moment] - places[ticks[-1]] >= NEAREST_TICKS
        if is_free and places[moments[-1]] - places[moment] >= NEAREST_TICKS:
            ticks.append(moment)
    if len(moments) > 1:
        ticks.append(moments[-1])
    return [
        Tick(
            x=places[it],
            told=since(it, begin),
            anchor="end" if it == moments[-1] and len(ticks) > 1 else "middle",
        )
        for it in ticks
    ]
