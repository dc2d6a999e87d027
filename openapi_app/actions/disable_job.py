"""Stop a job from firing and being triggered; what is under way goes on."""

from uuid import UUID

from django.db import transaction

from openapi_app.domain.errors import JobNotFound
from openapi_app.models import Job
from openapi_app.models.beat import synchronise
from orbit import clock


def disable_job(*, job_id: UUID, by: str) -> bool:
    """Whether it was enabled; from this commit on nothing new starts.

    Raises JobNotFound.
    """
    with transaction.atomic(durable=True):
        job = Job.objects.lock(job_id)
        if job is None:
            raise JobNotFound
        if not job.is_enabled:
            return False
        job.is_enabled = False
        job.next_run_at = None
        job.updated_at, job.updated_by = clock.now(), by
        synchronise(job)
        job.save(
            update_fields=[
                "is_enabled",
                "next_run_at",
                "updated_at",
                "updated_by",
                "sync_status",
                "sync_reason",
            ]
        )
        return True
