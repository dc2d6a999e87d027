"""Bring the scheduler's row back to what the job says."""

from uuid import UUID

from django.db import transaction

from openapi_app.domain.errors import JobNotFound
from openapi_app.domain.words import SyncStatus
from openapi_app.models import Job
from openapi_app.models.beat import synchronise


def synchronise_job(*, job_id: UUID) -> bool:
    """Whether job and scheduler are in step now; the job tells why not.

    Raises JobNotFound.
    """
    with transaction.atomic(durable=True):
        job = Job.objects.lock(job_id)
        if job is None:
            raise JobNotFound
        synchronise(job)
        job.save(update_fields=["sync_status", "sync_reason"])
        return job.sync_status == SyncStatus.SYNCED
