"""Nominal times: cron over both clock changes, intervals, one times, and misfires."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from openapi_app.domain.errors import InvalidJob
from openapi_app.domain.schedule import (
    Schedule,
    check_schedule,
    cron_fields,
    nominal_to_fire,
)
from openapi_app.domain.words import MisfirePolicy, ScheduleType

NOW = datetime(2026, 12, 1, 12, tzinfo=UTC)
LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)
NEW_YORK, BERLIN = "America/New_York", "Europe/Berlin"
# The days on which the clocks change, by zone: first forward, then back.
CHANGES = {
    NEW_YORK: (datetime(2026, 3, 8), datetime(2026, 11, 1)),  # noqa: DTZ001
    BERLIN: (datetime(2026, 3, 29), datetime(2026, 10, 25)),  # noqa: DTZ001
}
# The hour that the change forward skips and the one that the change back repeats.
SKIPPED = {NEW_YORK: 2, BERLIN: 2}
REPEATED = {NEW_YORK: 1, BERLIN: 2}


def cron(expression, timezone="UTC", since=LONG_AGO):
    """A cron schedule."""
    return Schedule(
        type=ScheduleType.CRON, cron=expression, timezone=timezone, since=since
    )


def every(seconds, since=NOW):
    """An interval schedule."""
    return Schedule(type=ScheduleType.INTERVAL, interval_seconds=seconds, since=since)


def once(moment, since=LONG_AGO):
    """A schedule of one time."""
    return Schedule(type=ScheduleType.ONCE, once_at=moment, since=since)


def times_of_day(schedule, day):
    """The wall clock of all nominal times on a day, each with its UTC offset."""
    zone = ZoneInfo(schedule.timezone)
    moment = day.replace(tzinfo=zone).astimezone(UTC) - timedelta(seconds=1)
    end = (day + timedelta(days=1)).replace(tzinfo=zone)
    found = []
    while (moment := schedule.next_after(moment)) < end:
        local = moment.astimezone(zone)
        found.append((local.strftime("%H:%M"), local.utcoffset()))
    return found


@pytest.mark.parametrize("zone", [NEW_YORK, BERLIN])
def test_a_fixed_time_that_the_clocks_skip_runs_once_right_after(zone):
    forward, _ = CHANGES[zone]
    hour = SKIPPED[zone]

    found = times_of_day(cron(f"30 {hour} * * *", zone), forward)

    assert [time for time, _ in found] == [f"0{hour + 1}:00"]


@pytest.mark.parametrize("zone", [NEW_YORK, BERLIN])
def test_two_fixed_times_in_the_skipped_hour_share_one_run(zone):
    forward, _ = CHANGES[zone]
    hour = SKIPPED[zone]

    found = times_of_day(cron(f"10,40 {hour} * * *", zone), forward)

    assert [time for time, _ in found] == [f"0{hour + 1}:00"]


@pytest.mark.parametrize("zone", [NEW_YORK, BERLIN])
def test_a_fixed_time_that_the_clocks_repeat_runs_once_the_first_time(zone):
    _, back = CHANGES[zone]
    hour = REPEATED[zone]

    found = times_of_day(cron(f"30 {hour} * * *", zone), back)

    assert [time for time, _ in found] == [f"0{hour}:30"]
    summer = (back - timedelta(days=1)).replace(tzinfo=ZoneInfo(zone)).utcoffset()
    assert found[0][1] == summer


@pytest.mark.parametrize("zone", [NEW_YORK, BERLIN])
def test_asked_in_the_repeated_hour_a_fixed_time_comes_the_next_day(zone):
    _, back = CHANGES[zone]
    hour = REPEATED[zone]
    second_time = back.replace(hour=hour, minute=10, fold=1, tzinfo=ZoneInfo(zone))

    found = cron(f"30 {hour} * * *", zone).next_after(second_time.astimezone(UTC))

    assert found.astimezone(ZoneInfo(zone)).date() == back.date() + timedelta(days=1)


@pytest.mark.parametrize("zone", [NEW_YORK, BERLIN])
@pytest.mark.parametrize(
    ("expression", "each_hour"), [("0 * * * *", 1), ("*/15 * * * *", 4)]
)
def test_what_runs_every_hour_goes_by_real_time(zone, expression, each_hour):
    forward, back = CHANGES[zone]
    schedule = cron(expression, zone)

    assert len(times_of_day(schedule, forward)) == 23 * each_hour
    assert len(times_of_day(schedule, back)) == 25 * each_hour
    assert len(set(times_of_day(schedule, back))) == 25 * each_hour


@pytest.mark.parametrize("zone", [NEW_YORK, BERLIN])
def test_on_an_ordinary_day_a_fixed_time_is_the_wall_clock(zone):
    day = datetime(2026, 7, 1)  # noqa: DTZ001 - a day of the wall clock

    found = times_of_day(cron("30 2 * * *", zone), day)

    assert [time for time, _ in found] == ["02:30"]


@pytest.mark.parametrize(
    ("schedule", "moment", "expected"),
    [
        (cron("0 13 * * *"), NOW, datetime(2026, 12, 1, 13, tzinfo=UTC)),
        (cron("0 12 * * *"), NOW, datetime(2026, 12, 2, 12, tzinfo=UTC)),
        (cron("0 0 13 * fri"), NOW, datetime(2026, 12, 4, tzinfo=UTC)),
        (cron("0 0 29 2 *"), NOW, datetime(2028, 2, 29, tzinfo=UTC)),
        (
            cron("0 13 * * *", since=NOW + timedelta(days=9)),
            NOW,
            NOW + timedelta(days=9, hours=1),
        ),
        (every(90), NOW, NOW + timedelta(seconds=90)),
        (every(90), NOW + timedelta(seconds=90), NOW + timedelta(seconds=180)),
        (every(90), NOW - timedelta(days=1), NOW + timedelta(seconds=90)),
        (once(NOW), NOW - timedelta(seconds=1), NOW),
        (once(NOW), NOW, None),
        (once(NOW, since=NOW), NOW - timedelta(days=1), None),
        (Schedule(type=ScheduleType.NONE, since=NOW), NOW, None),
    ],
)
def test_the_next_nominal_time_is_after_the_moment_and_after_the_start(
    schedule, moment, expected
):
    assert schedule.next_after(moment) == expected


@pytest.mark.parametrize(
    ("schedule", "late", "latest"),
    [
        (cron("* * * * *"), timedelta(minutes=30), timedelta(minutes=30)),
        (cron("0 * * * *"), timedelta(hours=5, minutes=3), timedelta(hours=5)),
        (cron("0 12 * * *"), timedelta(days=40, hours=2), timedelta(days=40)),
        (cron("0 12 1 12 *"), timedelta(days=800), timedelta(days=731)),
        (every(60), timedelta(days=3, seconds=59), timedelta(days=3)),
        (cron("0 12 1 12 *"), timedelta(0), timedelta(0)),
    ],
)
def test_of_missed_times_only_the_latest_is_fired(schedule, late, latest):
    found = nominal_to_fire(
        schedule, policy=MisfirePolicy.FIRE_ONCE, first=NOW, now=NOW + late
    )

    assert found == NOW + latest


@pytest.mark.parametrize(
    ("late", "fires"), [(0, True), (60, True), (61, False), (86_000, False)]
)
def test_ignore_leaves_out_what_is_late_by_more_than_a_minute(late, fires):
    found = nominal_to_fire(
        cron("0 12 * * *"),
        policy=MisfirePolicy.IGNORE,
        first=NOW,
        now=NOW + timedelta(seconds=late),
    )

    assert found == (NOW if fires else None)


@pytest.mark.parametrize(
    "expression",
    [
        "",
        "* * * *",
        "* * * * * *",
        "60 * * * *",
        "* 24 * * *",
        "* * 0 * *",
        "* * L * *",
        "* * * * 5L",
        "* * * * 5#2",
        "* * LW * *",
        "*/0 * * * *",
        "5-1 * * * *",
        "@daily",
        "* * * * *; ls",
        "a b c d e",
        "0 0 30 2 *",
        "\uff10 0 * * *",
    ],
)
def test_what_is_no_cron_expression_is_refused_at_its_field(expression):
    with pytest.raises(InvalidJob) as refusal:
        check_schedule(cron(expression), now=NOW)

    assert refusal.value.field == "cron"


@pytest.mark.parametrize(
    "zone", ["", "Mars/Olympus", "../etc/passwd", "/etc/localtime"]
)
def test_an_unknown_time_zone_is_refused_at_its_field(zone):
    with pytest.raises(InvalidJob) as refusal:
        check_schedule(cron("0 0 * * *", zone), now=NOW)

    assert refusal.value.field == "timezone"


@pytest.mark.parametrize(
    ("schedule", "field"),
    [
        (every(0), "interval_seconds"),
        (every(None), "interval_seconds"),
        (every(10**9), "interval_seconds"),
        (once(None), "once_at"),
        (once(NOW), "once_at"),
    ],
)
def test_a_schedule_that_never_fires_is_refused_at_its_field(schedule, field):
    with pytest.raises(InvalidJob) as refusal:
        check_schedule(schedule, now=NOW)

    assert refusal.value.field == field


def test_cron_fields_are_told_as_numbers():
    found = cron_fields("*/20 8-10 1 jan,jul mon-fri/2")

    assert found.minute == "0,20,40"
    assert found.hour == "8,9,10"
    assert found.day_of_month == "1"
    assert found.month_of_year == "1,7"
    assert found.day_of_week == "1,3,5"


def test_sunday_is_0_and_7():
    assert cron_fields("0 0 * * 7") == cron_fields("0 0 * * sun")
    assert cron_fields("0 0 * * 0-7").day_of_week == "*"
