"""How many tasks of a limited queue may start."""

from datetime import UTC, datetime, timedelta
from typing import NamedTuple

import pytest

from tasks_app.domain.throttle import MAX_WINDOW, Bucket, Limits, Room

NOW = datetime(2026, 9, 17, tzinfo=UTC)


class Candidate(NamedTuple):
    name: str
    concurrency_key: str | None = None


def limits(**changes):
    return Limits(**{"slots": None, "rate_per_second": None, "per_key": None} | changes)


def a_bucket(tokens=0.0, *, filled=NOW):
    return Bucket(tokens=tokens, refilled_at=filled)


@pytest.mark.parametrize(
    "some", [{"slots": 1}, {"rate_per_second": 0.5}, {"per_key": 1}]
)
def test_any_limit_makes_claims_come_one_after_the_other(some):
    assert limits(**some).any
    assert not limits().any


@pytest.mark.parametrize(
    ("slots", "held", "room"), [(5, 0, 5), (5, 4, 1), (5, 5, 0), (5, 9, 0), (20, 0, 10)]
)
def test_slots_that_are_held_leave_the_rest(slots, held, room):
    found = limits(slots=slots).room(wanted=10, slots_held=held, bucket=a_bucket())

    assert found == room


@pytest.mark.parametrize(
    ("tokens", "room"), [(0.0, 0), (0.99, 0), (3.7, 3), (50.0, 10)]
)
def test_only_whole_tokens_start_a_task(tokens, room):
    found = limits(rate_per_second=5.0).room(
        wanted=10, slots_held=0, bucket=a_bucket(tokens)
    )

    assert found == room


@pytest.mark.parametrize(
    ("rate", "tokens", "seconds", "after"),
    [
        (10.0, 0.0, 0.25, 2.5),
        (10.0, 9.0, 5.0, 10.0),
        (0.5, 0.0, 1.0, 0.5),
        (0.5, 0.0, 60.0, 1.0),
        (10.0, 3.0, -5.0, 3.0),
    ],
    ids=["flows in", "one second's worth", "slow", "at least one", "clock went back"],
)
def test_a_bucket_fills_with_time_up_to_its_size(rate, tokens, seconds, after):
    bucket = a_bucket(tokens, filled=NOW - timedelta(seconds=seconds))

    refilled = bucket.refilled(limits=limits(rate_per_second=rate), now=NOW)

    assert refilled.tokens == pytest.approx(after)
    assert refilled.refilled_at == NOW


def test_without_a_rate_a_bucket_stays_as_it_is():
    bucket = a_bucket(2.0, filled=NOW - timedelta(hours=1))

    assert bucket.refilled(limits=limits(slots=1), now=NOW).tokens == 2.0


def test_started_tasks_take_their_tokens_and_never_leave_a_debt():
    assert a_bucket(3.5).after(2).tokens == 1.5
    assert a_bucket(1.0).after(2).tokens == 0.0


def test_no_key_starts_beyond_its_limit_and_the_order_stays():
    room = Room(tasks=10, held_keys={"a": 1}, limits=limits(per_key=2))
    candidates = [
        Candidate("1", "a"),
        Candidate("2", "a"),
        Candidate("3"),
        Candidate("4", "b"),
        Candidate("5", "b"),
        Candidate("6", "b"),
        Candidate("7"),
    ]

    chosen = room.fit(candidates)

    assert [candidate.name for candidate in chosen] == ["1", "3", "4", "5", "7"]


def test_no_more_start_than_there_is_room_for():
    room = Room(tasks=2, held_keys={}, limits=limits(slots=2))

    assert len(room.fit([Candidate(str(n), "a") for n in range(9)])) == 2


def test_keys_at_their_limit_are_not_even_looked_at():
    held = {"a": 2, "b": 1, "c": 3}

    assert Room(tasks=1, held_keys=held, limits=limits(per_key=2)).busy_keys == [
        "a",
        "c",
    ]
    assert Room(tasks=1, held_keys=held, limits=limits()).busy_keys == []


def test_with_a_limit_on_keys_more_candidates_are_looked_at():
    keyed = limits(per_key=1)

    assert Room(tasks=3, held_keys={}, limits=limits()).window == 3
    assert Room(tasks=3, held_keys={}, limits=keyed).window == 12
    assert Room(tasks=500, held_keys={}, limits=keyed).window == MAX_WINDOW
