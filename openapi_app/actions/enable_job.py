"""Let a job fire and be triggered again."""

from uuid import UUID

from django.db import transaction

from openapi_app.domain.errors import JobNotFound
from openapi_app.models import Job
from openapi_app.models.beat import synchronise
from orbit import clock


def enable_job(*, job_id: UUID, by: str) -> bool:
    """Whether it was disabled. What it missed meanwhile is not made up for.

    Raises JobNotFound.
    """
    with transaction.atomic(durable=True):
        job = Job.objects.lock(job_id)
        if job is None:
            raise JobNotFound
        if job.is_enabled:
            return False
        now = clock.now()
        job.is_enabled = True
        job.schedule_set_at = job.updated_at = now
        job.next_run_at = job.schedule.next_after(now)
        job.updated_by = by
        synchronise(job)
        job.save(
            update_fields=[
                "is_enabled",
                "schedule_set_at",
                "next_run_at",
                "updated_at",
                "updated_by",
                "sync_status",
                "sync_reason",
            ]
        )
        return True
