"""The rules of moments and budgets (spec, section 3: times)."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from tasks_app.domain.errors import InvalidField

RFC3339_UTC = re.compile(
    r"(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,6}))?(?:[Zz]|[+-]00:00)",
    re.ASCII,
)
YEARS = range(2000, 9999)
PAST_TOLERANCE = timedelta(seconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """When a new task may run: all in UTC, of the database's clock."""

    available_at: datetime
    start_deadline_at: datetime | None
    deadline_at: datetime


def parse_moment(field: str, text: str | None) -> datetime | None:
    """The moment that `text` writes in RFC 3339 UTC, years 2000-9998; else Invalid."""
    if text is None:
        return None
    match = RFC3339_UTC.fullmatch(text)
    if match is None:
        raise InvalidField(
            field,
            "Write the time as RFC 3339 in UTC with at most microseconds, for example "
            "2026-09-17T00:00:00.000001Z.",
        )
    year, month, day, hour, minute, second = map(int, match.groups()[:6])
    micros = int((match[7] or "").ljust(6, "0"))
    try:
        moment = datetime(year, month, day, hour, minute, second, micros, tzinfo=UTC)
    except ValueError:
        raise InvalidField(field, "There is no such moment.") from None
    if moment.year not in YEARS:
        raise InvalidField(field, "The year must be 2000 to 9998.")
    return moment


def window(
    *,
    now: datetime,
    task_timeout_ms: int,
    attempt_timeout_ms: int,
    available_at: datetime | None,
    start_deadline_at: datetime | None,
) -> Window:
    """When a task accepted `now` may run, or Invalid that names the field."""
    if task_timeout_ms < attempt_timeout_ms:
        raise InvalidField(
            "task_timeout_ms",
            f"The budget must cover one attempt: at least {attempt_timeout_ms} ms.",
        )
    deadline_at = now + timedelta(milliseconds=task_timeout_ms)
    start = available_at or now
    if start < now - PAST_TOLERANCE:
        raise InvalidField("available_at", "This time is more than 1 s in the past.")
    if start >= deadline_at:
        raise InvalidField(
            "available_at", "The task would not be available before its deadline."
        )
    _check_start_deadline(start_deadline_at, now, start, deadline_at)
    return Window(
        available_at=start, start_deadline_at=start_deadline_at, deadline_at=deadline_at
    )


def _check_start_deadline(
    start_by: datetime | None, now: datetime, start: datetime, deadline: datetime
) -> None:
    if start_by is None:
        return
    if start_by <= now:
        raise InvalidField("start_deadline_at", "This time is not after now.")
    if start_by < start:
        raise InvalidField("start_deadline_at", "This time is before available_at.")
    if start_by > deadline:
        raise InvalidField(
            "start_deadline_at", "This time is after the task's deadline."
        )
