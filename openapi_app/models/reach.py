"""Single facts that a call is decided on, each one cheap statement."""

from uuid import UUID

from django.db import connection
from django.db.models import Q

from openapi_app.domain.summaries import JobRange
from openapi_app.models.execution import JobExecution
from openapi_app.models.job import Job

# A job of somebody else and no job at all are the same answer of the same statement.
_IS_WITHIN = """
SELECT EXISTS (
    SELECT FROM openapi_job j JOIN openapi_job_group g ON g.id = j.group_id
    WHERE j.id = %(job)s AND j.deleted_at IS NULL AND j.namespace_id = %(namespace)s
      AND (j.id = ANY(%(jobs)s) OR g.name = ANY(%(groups)s)))
"""


def is_within(within: JobRange, job_id: UUID) -> bool:
    """Whether there is such a live job in the range at this moment."""
    wanted: dict[str, UUID | list[UUID] | list[str]] = {
        "job": job_id,
        "namespace": within.namespace_id,
        "jobs": list(within.job_ids),
        "groups": list(within.group_names),
    }
    with connection.cursor() as cursor:
        cursor.execute(_IS_WITHIN, wanted)
        (found,) = cursor.fetchone()
    return bool(found)


def task_of(execution_id: UUID) -> UUID | None:
    """The task that carries the execution's state; None for a skipped one."""
    tasks = JobExecution.objects.filter(id=execution_id)
    return tasks.values_list("task_id", flat=True).first()


def members_of(within: JobRange) -> list[tuple[UUID, str, str]]:
    """Id, name and group name of every live job in the range at this moment."""
    reached = Job.objects.live().filter(
        Q(id__in=within.job_ids) | Q(group__name__in=within.group_names),
        namespace_id=within.namespace_id,
    )
    named = reached.order_by("group__name", "name")
    return list(named.values_list("id", "name", "group__name"))
