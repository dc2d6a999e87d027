"""The scheduler's row of a job, and whether it says what the job says.

The row only wakes `fire_job`; what is due is decided by the job itself.
"""

import json
from collections.abc import Collection
from dataclasses import asdict, dataclass
from datetime import datetime
from uuid import UUID

from django.core.exceptions import ValidationError
from django_celery_beat.models import (
    ClockedSchedule,
    CrontabSchedule,
    IntervalSchedule,
    PeriodicTask,
)

from openapi_app.domain.handlers import find_handler
from openapi_app.domain.schedule import cron_fields
from openapi_app.domain.words import ScheduleType, SyncStatus
from openapi_app.models.job import Job
from orbit.transactions import require_transaction

FIRE_JOB = "openapi_app.fire_job"

# What nobody sets on these rows; a value in one of them changes what the row does.
_UNSET = {
    "solar_id": None,
    "kwargs": "{}",
    "queue": None,
    "exchange": None,
    "routing_key": None,
    "headers": "{}",
    "priority": None,
    "expires": None,
    "expire_seconds": None,
    "start_time": None,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """When a row wakes, by value: rows of schedules are shared and may be edited."""

    crontab: tuple[tuple[str, str], ...] | None = None
    timezone: str | None = None
    interval_seconds: int | None = None
    clocked_time: datetime | None = None


def row_name(job_id: UUID) -> str:
    """The name by which the scheduler's row of a job is found."""
    return f"orbit job {job_id.hex}"


def rows_of(jobs: Collection[Job]) -> dict[UUID, PeriodicTask]:
    """The scheduler's rows of these jobs, where there are any; one statement."""
    names = {row_name(job.id): job.id for job in jobs}
    found = PeriodicTask.objects.filter(name__in=names).select_related(
        "crontab", "interval", "clocked"
    )
    return {names[row.name]: row for row in found}


def why_not_synced(job: Job, row: PeriodicTask | None, *, now: datetime) -> str:
    """Why the job is not in step with the scheduler, for its owner; "" if it is."""
    if job.sync_status != SyncStatus.SYNCED:
        return job.sync_reason or "The job has not been synchronised yet."
    return _handler_missing(job) or _drift(job, row, now=now)


def synchronise(job: Job) -> None:
    """Make the scheduler's row say what the job says, and set the job's sync state.

    A step of the caller's transaction, which saves the job.
    """
    require_transaction()
    reason = _handler_missing(job) or _write_row(job)
    job.sync_status = SyncStatus.FAILED if reason else SyncStatus.SYNCED
    job.sync_reason = reason[:500]


def remove_row(job: Job) -> None:
    """Take the job out of the scheduler, within the caller's transaction."""
    require_transaction()
    PeriodicTask.objects.filter(name=row_name(job.id)).delete()


def _handler_missing(job: Job) -> str:
    if find_handler(job.handler) is None:
        return f"No handler {job.handler!r} is registered."
    return ""


def _drift(job: Job, row: PeriodicTask | None, *, now: datetime) -> str:
    wanted = _timing(job)
    if wanted is None:
        return "" if row is None else "The scheduler has a row that should not be."
    if row is None:
        return "The scheduler's row is missing."
    differing = [
        name for name, value in _plain(job).items() if _get(row, name) != value
    ]
    if _timing_of(row) != wanted:
        differing.append("schedule")
    # The scheduler itself switches a row off that has run its one time.
    is_over = job.next_run_at is None or job.next_run_at <= now
    if row.enabled != job.is_enabled and not (row.one_off and is_over):
        differing.append("enabled")
    return f"The scheduler's row differs: {', '.join(differing)}." if differing else ""


def _get(row: PeriodicTask, name: str) -> object:
    value: object = getattr(row, name)
    # The scheduler keeps an empty mapping as either.
    return "{}" if name == "headers" and value is None else value


def _plain(job: Job) -> dict[str, object]:
    return _UNSET | {
        "task": FIRE_JOB,
        "args": json.dumps([job.id.hex]),
        "one_off": job.schedule_type == ScheduleType.ONCE,
    }


def _timing(job: Job) -> Timing | None:
    match ScheduleType(job.schedule_type):
        case ScheduleType.CRON:
            crontab = tuple(asdict(cron_fields(job.cron)).items())
            return Timing(crontab=crontab, timezone=job.timezone)
        case ScheduleType.INTERVAL:
            return Timing(interval_seconds=job.interval_seconds)
        case ScheduleType.ONCE:
            return Timing(clocked_time=job.once_at)
        case ScheduleType.NONE:
            return None


def _timing_of(row: PeriodicTask) -> Timing:
    crontab, interval, clocked = row.crontab, row.interval, row.clocked
    return Timing(
        crontab=crontab
        and tuple(
            (name, getattr(crontab, name))
            for name in (
                "minute",
                "hour",
                "day_of_month",
                "month_of_year",
                "day_of_week",
            )
        ),
        timezone=crontab and str(crontab.timezone),
        interval_seconds=interval
        and interval.every * (interval.period == IntervalSchedule.SECONDS),
        clocked_time=clocked and clocked.clocked_time,
    )


def _write_row(job: Job) -> str:
    timing = _timing(job)
    if timing is None:
        remove_row(job)
        return ""
    name = row_name(job.id)
    row = PeriodicTask.objects.select_for_update().filter(name=name).first()
    row = row or PeriodicTask(name=name)
    try:
        wanted = _plain(job) | _schedules(timing) | {"enabled": job.is_enabled}
        for field, value in wanted.items():
            setattr(row, field, value)
        row.save()
    except ValidationError as error:
        return f"The scheduler refuses it: {'; '.join(error.messages)}"
    return ""


def _schedules(timing: Timing) -> dict[str, object]:
    crontab = interval = clocked = None
    if timing.crontab is not None:
        wanted = dict(timing.crontab) | {"timezone": timing.timezone}
        crontab = CrontabSchedule.objects.filter(**wanted).first()
        crontab = crontab or CrontabSchedule(**wanted)
        crontab.full_clean()
        crontab.save()
    elif timing.interval_seconds is not None:
        interval = IntervalSchedule.objects.filter(
            every=timing.interval_seconds, period=IntervalSchedule.SECONDS
        ).first() or IntervalSchedule.objects.create(
            every=timing.interval_seconds, period=IntervalSchedule.SECONDS
        )
    else:
        clocked = ClockedSchedule.objects.create(clocked_time=timing.clocked_time)
    return {"crontab": crontab, "interval": interval, "clocked": clocked}
