"""When a job fires by itself: nominal times, misfires, and daylight saving time.

Cron expressions have the five classic fields and follow Debian's cron: where both the
day of the month and the day of the week are restricted, either may match. A fixed time
that the clocks skip runs right after the change, and one that they repeat runs once,
the first time; what runs every minute or every hour goes by real time.
"""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from cronsim import CronSim, CronSimError

from openapi_app.domain.errors import InvalidJob
from openapi_app.domain.words import MisfirePolicy, ScheduleType

# A nominal time missed by more than this is what the policy IGNORE leaves out.
MISFIRE_GRACE = timedelta(seconds=60)
MAX_INTERVAL_SECONDS = 366 * 86_400
_FIELD = r"(?:\*|[0-9A-Za-z]+(?:-[0-9A-Za-z]+)?)(?:/[0-9]+)?"
_CRON = re.compile(rf"{_FIELD}(?:,{_FIELD})*(?:[ \t]+{_FIELD}(?:,{_FIELD})*){{4}}")
_LAST_DAYS = re.compile(r"\bLW?\b|\b[0-7]L\b", re.IGNORECASE)
# How far back the latest missed time is looked for: near first, so that it is quick.
_LOOK_BACK = (timedelta(hours=1), timedelta(days=1), timedelta(days=32))


@dataclass(frozen=True, slots=True, kw_only=True)
class CronFields:
    """The expression with every field as numbers, as the scheduler's row has it."""

    minute: str
    hour: str
    day_of_month: str
    month_of_year: str
    day_of_week: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """A checked schedule; nothing at or before `since` is a nominal time of it."""

    type: ScheduleType
    since: datetime
    cron: str = ""
    interval_seconds: int | None = None
    once_at: datetime | None = None
    timezone: str = "UTC"

    def next_after(self, moment: datetime) -> datetime | None:
        """The first nominal time after `moment`, in UTC; None when there is none."""
        after = max(moment, self.since)
        match self.type:
            case ScheduleType.NONE:
                return None
            case ScheduleType.ONCE:
                once = self.once_at
                return once if once is not None and once > after else None
            case ScheduleType.INTERVAL:
                return self._next_interval(after)
            case ScheduleType.CRON:
                return _next_cron(self.cron, self.timezone, after)

    def latest_due(self, *, first: datetime, now: datetime) -> datetime:
        """The last nominal time up to `now`, where `first` is one that is due."""
        for span in (*_LOOK_BACK, now - first):
            found = self._last_between(max(first, now - span), now)
            if found is not None:
                return found
        return first

    def _last_between(self, start: datetime, end: datetime) -> datetime | None:
        if self.type is ScheduleType.INTERVAL:
            return self._last_interval(start, end)
        last, moment = None, self.next_after(start)
        while moment is not None and moment <= end:
            last, moment = moment, self.next_after(moment)
        return last

    def _next_interval(self, after: datetime) -> datetime:
        step = self._step
        return self.since + ((after - self.since) // step + 1) * step

    def _last_interval(self, start: datetime, end: datetime) -> datetime | None:
        last = self.since + ((end - self.since) // self._step) * self._step
        return last if last > start else None

    @property
    def _step(self) -> timedelta:
        return timedelta(seconds=self.interval_seconds or 0)


def nominal_to_fire(
    schedule: Schedule, *, policy: MisfirePolicy, first: datetime, now: datetime
) -> datetime | None:
    """The one nominal time to fire when `first` is due: the latest, never more.

    FIRE_ONCE fires it however late it is, IGNORE only within a minute.
    """
    latest = schedule.latest_due(first=first, now=now)
    if policy is MisfirePolicy.IGNORE and now - latest > MISFIRE_GRACE:
        return None
    return latest


def check_schedule(schedule: Schedule, *, now: datetime) -> None:
    """Raise InvalidJob, with the field, unless it will fire at least once."""
    _zone(schedule.timezone)
    match schedule.type:
        case ScheduleType.CRON:
            cron_fields(schedule.cron)
            if schedule.next_after(now) is None:
                raise InvalidJob("cron", "This never comes; choose days that exist.")
        case ScheduleType.INTERVAL:
            _check_interval(schedule.interval_seconds)
        case ScheduleType.ONCE:
            _check_once(schedule.once_at, now=now)
        case ScheduleType.NONE:
            pass


def _check_interval(seconds: int | None) -> None:
    if seconds is None or not 1 <= seconds <= MAX_INTERVAL_SECONDS:
        raise InvalidJob("interval_seconds", "Repeat every 1 second to every 366 days.")


def _check_once(once_at: datetime | None, *, now: datetime) -> None:
    if once_at is None:
        raise InvalidJob("once_at", "Say when it shall run.")
    if once_at <= now:
        raise InvalidJob("once_at", "This time has passed; choose a later one.")


def cron_fields(cron: str) -> CronFields:
    """The fields of a cron expression as numbers; InvalidJob if it is none."""
    if not _CRON.fullmatch(cron.strip()) or _LAST_DAYS.search(cron):
        raise InvalidJob(
            "cron",
            "Write five fields: minute, hour, day of month, month, day of week;"
            " for example 30 2 * * mon-fri.",
        )
    try:
        parsed = CronSim(cron, datetime(2000, 1, 1, tzinfo=UTC))
    except CronSimError as error:
        raise InvalidJob("cron", f"{error}; see the five fields of cron.") from None
    weekdays = {day % 7 for day in parsed.weekdays if isinstance(day, int)}
    return CronFields(
        minute=_numbers(parsed.minutes, count=60),
        hour=_numbers(parsed.hours, count=24),
        day_of_month=_numbers(parsed.days, count=31),
        month_of_year=_numbers(parsed.months, count=12),
        day_of_week=_numbers(weekdays, count=7),
    )


def _numbers(values: set[int], *, count: int) -> str:
    return "*" if len(values) == count else ",".join(map(str, sorted(values)))


def _next_cron(cron: str, timezone: str, after: datetime) -> datetime | None:
    for local in CronSim(cron, after.astimezone(_zone(timezone))):
        moment = local.astimezone(UTC)
        # A repeated hour can bring up a time that has gone by already.
        if moment > after:
            return moment
    return None


def _zone(timezone: str) -> ZoneInfo:
    try:
        return ZoneInfo(timezone)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise InvalidJob(
            "timezone", "Name a time zone, for example America/New_York."
        ) from None
