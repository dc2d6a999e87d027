"""The timeline: everything on one axis, in order, however far apart."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest

from tasks_app.pages.timeline import LEFT, RIGHT, WIDTH, Happening, draw, since

BEGIN = datetime(2026, 9, 17, tzinfo=UTC)


def at(lane="Events", **distance):
    """Something that happened that long after the beginning."""
    return Happening(
        at=BEGIN + timedelta(**distance), lane=lane, kind="event", what="it"
    )


def test_what_came_later_stands_further_right_and_inside():
    drawn = draw(
        [at(days=9), at(seconds=1), at(milliseconds=1), at(hours=3)], begin=BEGIN
    )

    places = [mark.x for mark in drawn.lanes[0].marks]
    assert places == sorted(places)
    assert len(set(places)) == 4
    assert places[0] > LEFT
    assert places[-1] == WIDTH - RIGHT
    assert [it.offset for it in drawn.happenings] == [
        "+0.001 s",
        "+1 s",
        "+3 h 00 min",
        "+9 d 0 h",
    ]


def test_a_single_moment_can_be_drawn():
    drawn = draw([at(seconds=0)], begin=BEGIN)

    assert [mark.x for mark in drawn.lanes[0].marks] == [LEFT]
    assert [tick.told for tick in drawn.ticks] == ["+0 s"]
    assert not drawn.is_shortened


def test_ticks_leave_each_other_room():
    drawn = draw([at(seconds=n) for n in range(60)], begin=BEGIN)

    places = [tick.x for tick in drawn.ticks]
    assert places[0] == LEFT
    assert places[-1] == WIDTH - RIGHT
    assert min(b - a for a, b in pairwise(places)) >= 70


def test_of_many_attempts_the_latest_are_drawn_and_all_are_told():
    many = [
        Happening(
            at=BEGIN + timedelta(seconds=n),
            until=BEGIN + timedelta(seconds=n + 1),
            lane=f"Attempt {n}",
            kind="attempt is-unknown",
            what="it",
        )
        for n in range(40)
    ]

    drawn = draw([*many, at(seconds=50)], begin=BEGIN)

    names = [lane.name for lane in drawn.lanes]
    assert names == [*(f"Attempt {n}" for n in range(29, 40)), "Events"]
    assert drawn.hidden_lanes == 29
    assert len(drawn.happenings) == 41


@pytest.mark.parametrize(
    ("distance", "told"),
    [
        (timedelta(0), "+0 s"),
        (timedelta(milliseconds=1_250), "+1.25 s"),
        (timedelta(seconds=-1), "-1 s"),
        (timedelta(minutes=3, seconds=5), "+3 min 05 s"),
        (timedelta(hours=26), "+1 d 2 h"),
    ],
)
def test_a_distance_is_told_shortly(distance, told):
    assert since(BEGIN + distance, BEGIN) == told
