"""Start the execution of a job's nominal time that has come."""

from datetime import datetime
from uuid import UUID

from openapi_app.actions.start_execution import start_execution
from openapi_app.domain.handlers import find_handler
from openapi_app.domain.schedule import nominal_to_fire
from openapi_app.domain.words import MisfirePolicy, Source
from openapi_app.models import Job, JobExecution
from orbit import clock
from tasks_app.public import ENGINE, patiently


def fire_job(*, job_id: UUID) -> JobExecution | None:
    """The execution for the latest nominal time that is due; None if nothing is.

    However often and from wherever it is called, a nominal time gets one execution, and
    several missed ones get one between them. A job that cannot start, because a queue
    is full, raises what `start_execution` raises and stays due. Send the execution once
    this has returned.
    """
    return patiently(lambda is_patient: _fire(job_id, is_patient=is_patient))


def _fire(job_id: UUID, *, is_patient: bool) -> JobExecution | None:
    job = Job.objects.lock(job_id)
    if job is None or job.next_run_at is None or find_handler(job.handler) is None:
        return None
    first, now = job.next_run_at, clock.now()
    if first > now:
        return None
    nominal = nominal_to_fire(
        job.schedule,
        policy=MisfirePolicy(job.misfire_policy),
        first=first,
        now=now,
    )
    job.next_run_at = job.schedule.next_after(now)
    job.save(update_fields=["next_run_at"])
    if nominal is None or _has_fired(job, nominal):
        return None
    return start_execution(
        job=job,
        source=Source.CRON,
        now=now,
        is_patient=is_patient,
        actor=ENGINE,
        scheduled_for=nominal,
    )


def _has_fired(job: Job, nominal: datetime) -> bool:
    return JobExecution.objects.filter(job=job, scheduled_for=nominal).exists()
