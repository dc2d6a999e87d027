"""Single facts that a call is decided on, each one cheap statement."""

from collections.abc import Collection
from typing import NamedTuple
from uuid import UUID

from django.db import connection
from django.db.models import Q, QuerySet

from openapi_app.domain.summaries import JobRange
from openapi_app.models.job import Job, JobGroup

# A job of somebody else and no job at all are the same answer of the same statement.
_IS_WITHIN = """
SELECT EXISTS (
    SELECT FROM openapi_job j JOIN openapi_job_group g ON g.id = j.group_id
    WHERE j.id = %(job)s AND j.deleted_at IS NULL AND j.namespace_id = %(namespace)s
      AND (j.id = ANY(%(jobs)s) OR g.name = ANY(%(groups)s)))
"""

TASK_OF = (
    "SELECT e.task_id, e.namespace_id FROM openapi_job_execution e WHERE e.id = %s"
)


class ExecutionTask(NamedTuple):
    """The task that an execution runs as, None for one that was skipped."""

    task_id: UUID | None
    namespace_id: UUID


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


def task_of(execution_id: UUID) -> ExecutionTask | None:
    """The task of this execution; None when there is no such execution."""
    with connection.cursor() as cursor:
        cursor.execute(TASK_OF, [execution_id])
        found = cursor.fetchone()
    return None if found is None else ExecutionTask._make(found)


def members_of(within: JobRange) -> list[tuple[UUID, str, str]]:
    """Id, name and group name of every live job in the range at this moment."""
    reached = Job.objects.live().filter(
        Q(id__in=within.job_ids) | Q(group__name__in=within.group_names),
        namespace_id=within.namespace_id,
    )
    return _named(reached)


def jobs_in(namespace_id: UUID) -> list[tuple[UUID, str, str]]:
    """Id, name and group name of every live job of a namespace."""
    return _named(Job.objects.live().filter(namespace_id=namespace_id))


def jobs_named_like(text: str, *, limit: int) -> list[tuple[UUID, str, str]]:
    """Id, name and group name of live jobs whose name contains the text."""
    named = Job.objects.live().filter(name__icontains=text)
    return _named(named)[:limit]


def jobs_with_ids(namespace_id: UUID, job_ids: Collection[UUID]) -> list[UUID]:
    """Which of these are live jobs of the namespace."""
    jobs = Job.objects.live().filter(namespace_id=namespace_id, id__in=job_ids)
    return list(jobs.values_list("id", flat=True))


def groups_named(namespace_id: UUID) -> list[tuple[UUID, str]]:
    """Id and name of every job group of a namespace, by name."""
    groups = JobGroup.objects.filter(namespace_id=namespace_id).order_by("name")
    return list(groups.values_list("id", "name"))


def _named(jobs: QuerySet[Job]) -> list[tuple[UUID, str, str]]:
    named = jobs.order_by("group__name", "name", "id")
    return list(named.values_list("id", "name", "group__name"))
