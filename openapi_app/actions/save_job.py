"""Create or change a job, together with its row in the scheduler."""

from dataclasses import asdict
from uuid import UUID

from django.db import IntegrityError, transaction

from openapi_app.domain.errors import (
    GroupNotFound,
    InvalidJob,
    JobNameTaken,
    JobNotFound,
)
from openapi_app.domain.job_rules import JobDraft, check_draft, check_timing
from openapi_app.models import Job, JobGroup
from openapi_app.models.beat import synchronise
from orbit import clock
from orbit.ids import new_id
from tasks_app.public import has_queue

TIMING = ("schedule_type", "cron", "interval_seconds", "once_at", "timezone")
DERIVED = (
    "schedule_set_at",
    "next_run_at",
    "sync_status",
    "sync_reason",
    "updated_at",
    "updated_by",
)


def save_job(draft: JobDraft, *, job_id: UUID | None, by: str) -> UUID:
    """The id of the job as saved; without `job_id` a new one.

    A changed schedule, or a job that is enabled again, starts afresh: no nominal time
    up to this moment fires any more. Raises InvalidJob (JobNameTaken among them),
    GroupNotFound or JobNotFound; then nothing is written.
    """
    check_draft(draft)
    try:
        with transaction.atomic(durable=True):
            return _save(draft, job_id=job_id, by=by)
    except IntegrityError as error:
        if "openapi_job_name_unique" in str(error):
            raise JobNameTaken from None
        raise


def _save(draft: JobDraft, *, job_id: UUID | None, by: str) -> UUID:
    _check_places(draft)
    job = _the_job(draft, job_id=job_id, by=by)
    now = clock.now()
    starts_afresh = job_id is None or _is_rescheduled(job, draft)
    if starts_afresh:
        check_timing(draft, now=now)
        job.schedule_set_at = now
    for field, value in asdict(draft).items():
        setattr(job, field, value)
    job.updated_at, job.updated_by = now, by
    if not job.is_enabled:
        job.next_run_at = None
    elif starts_afresh:
        job.next_run_at = job.schedule.next_after(now)
    synchronise(job)
    if job_id is None:
        job.save(force_insert=True)
    else:
        job.save(update_fields=[*asdict(draft), *DERIVED])
    return job.id


def _check_places(draft: JobDraft) -> None:
    if not JobGroup.objects.filter(
        id=draft.group_id, namespace_id=draft.namespace_id
    ).exists():
        raise GroupNotFound
    if not has_queue(namespace_id=draft.namespace_id, queue_id=draft.queue_id):
        raise InvalidJob("queue_id", "There is no such queue in this namespace.")


def _the_job(draft: JobDraft, *, job_id: UUID | None, by: str) -> Job:
    if job_id is None:
        return Job(id=new_id(), namespace_id=draft.namespace_id, created_by=by)
    job = Job.objects.lock(job_id)
    if job is None or job.namespace_id != draft.namespace_id:
        raise JobNotFound
    return job


def _is_rescheduled(job: Job, draft: JobDraft) -> bool:
    is_enabled_again = draft.is_enabled and not job.is_enabled
    return is_enabled_again or any(
        getattr(job, field) != getattr(draft, field) for field in TIMING
    )
