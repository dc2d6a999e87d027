"""Moments and budgets: what may be written, and when a task may run."""

from datetime import UTC, datetime, timedelta

import pytest

from tasks_app.domain.errors import InvalidField
from tasks_app.domain.timing import parse_moment, window

NOW = datetime(2026, 9, 17, 12, 0, 0, 500_000, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
MINUTE = timedelta(minutes=1)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-09-17T00:00:00Z", datetime(2026, 9, 17, tzinfo=UTC)),
        ("2026-09-17t00:00:00z", datetime(2026, 9, 17, tzinfo=UTC)),
        ("2026-09-17T00:00:00+00:00", datetime(2026, 9, 17, tzinfo=UTC)),
        ("2026-09-17T00:00:00-00:00", datetime(2026, 9, 17, tzinfo=UTC)),
        ("2026-09-17T00:00:00.5Z", datetime(2026, 9, 17, 0, 0, 0, 500_000, UTC)),
        ("2026-09-17T00:00:00.000001Z", datetime(2026, 9, 17, 0, 0, 0, 1, UTC)),
        ("2000-01-01T00:00:00Z", datetime(2000, 1, 1, tzinfo=UTC)),
        (
            "9998-12-31T23:59:59.999999Z",
            datetime(9998, 12, 31, 23, 59, 59, 999_999, UTC),
        ),
        ("2028-02-29T00:00:00Z", datetime(2028, 2, 29, tzinfo=UTC)),
    ],
)
def test_rfc_3339_in_utc_is_read_to_the_microsecond(text, moment):
    assert parse_moment("available_at", text) == moment


def test_no_text_is_no_moment():
    assert parse_moment("available_at", None) is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "now",
        "1789603200",
        "2026-09-17",
        "2026-09-17T00:00:00",
        "2026-09-17 00:00:00Z",
        "2026-09-17T00:00Z",
        "2026-09-17T00:00:00.Z",
        "2026-09-17T00:00:00.0000001Z",
        "2026-09-17T00:00:00+01:00",
        "2026-09-17T00:00:00+0000",
        "2026-09-17T00:00:00Z\n",
        " 2026-09-17T00:00:00Z",
        "2026-9-17T00:00:00Z",
        "26-09-17T00:00:00Z",
        "+2026-09-17T00:00:00Z",
        "12026-09-17T00:00:00Z",
        "\u0662\u0660\u0662\u0666-09-17T00:00:00Z",
        "2026-02-30T00:00:00Z",
        "2027-02-29T00:00:00Z",
        "2026-13-01T00:00:00Z",
        "2026-00-01T00:00:00Z",
        "2026-09-17T24:00:00Z",
        "2026-09-17T00:60:00Z",
        "2026-12-31T23:59:60Z",
        "0000-01-01T00:00:00Z",
        "1999-12-31T23:59:59.999999Z",
        "9999-01-01T00:00:00Z",
    ],
)
def test_anything_else_is_refused_by_the_field_it_came_in(text):
    with pytest.raises(InvalidField) as refused:
        parse_moment("start_deadline_at", text)

    assert refused.value.field == "start_deadline_at"


def opened(**changes):
    wanted = {
        "now": NOW,
        "task_timeout_ms": 60_000,
        "attempt_timeout_ms": 10_000,
        "available_at": None,
        "start_deadline_at": None,
    }
    return window(**{**wanted, **changes})


def field_refused(**changes):
    with pytest.raises(InvalidField) as refused:
        opened(**changes)
    return refused.value.field


def test_a_task_may_run_at_once_until_its_budget_is_over():
    found = opened()

    assert found.available_at == NOW
    assert found.deadline_at == NOW + MINUTE
    assert found.start_deadline_at is None


def test_the_budget_covers_at_least_one_attempt():
    assert opened(task_timeout_ms=10_000).deadline_at == NOW + timedelta(seconds=10)
    assert field_refused(task_timeout_ms=9_999) == "task_timeout_ms"


def test_one_second_in_the_past_is_tolerated_and_no_more():
    second = timedelta(seconds=1)

    assert opened(available_at=NOW - second).available_at == NOW - second
    assert field_refused(available_at=NOW - second - MICROSECOND) == "available_at"


def test_a_task_is_available_before_its_deadline():
    latest = NOW + MINUTE - MICROSECOND

    assert opened(available_at=latest).available_at == latest
    assert field_refused(available_at=NOW + MINUTE) == "available_at"


@pytest.mark.parametrize(
    ("start_by", "available_at"),
    [
        (NOW + MICROSECOND, None),
        (NOW + MINUTE, None),
        (NOW + timedelta(seconds=5), NOW + timedelta(seconds=5)),
    ],
    ids=["just after now", "at the deadline", "when it becomes available"],
)
def test_a_start_deadline_lies_between_availability_and_deadline(
    start_by, available_at
):
    found = opened(start_deadline_at=start_by, available_at=available_at)

    assert found.start_deadline_at == start_by


@pytest.mark.parametrize(
    ("start_by", "available_at"),
    [
        (NOW, None),
        (NOW - MICROSECOND, None),
        (NOW + MINUTE + MICROSECOND, None),
        (NOW + timedelta(seconds=5), NOW + timedelta(seconds=5) + MICROSECOND),
    ],
    ids=["now", "before now", "after the deadline", "before it becomes available"],
)
def test_a_start_deadline_elsewhere_is_refused(start_by, available_at):
    field = field_refused(start_deadline_at=start_by, available_at=available_at)

    assert field == "start_deadline_at"
