"""Delete a job logically: its executions stay, its name is free again."""

from uuid import UUID

from django.db import transaction

from openapi_app.domain.errors import JobNotFound
from openapi_app.models import Job
from openapi_app.models.beat import remove_row
from orbit import clock


def delete_job(*, job_id: UUID, by: str) -> None:
    """Take the job out of the scheduler and every range; what is under way goes on.

    Raises JobNotFound.
    """
    with transaction.atomic(durable=True):
        job = Job.objects.lock(job_id)
        if job is None:
            raise JobNotFound
        job.deleted_at = job.updated_at = clock.now()
        job.next_run_at = None
        job.updated_by = by
        remove_row(job)
        job.save(
            update_fields=["deleted_at", "next_run_at", "updated_at", "updated_by"]
        )
