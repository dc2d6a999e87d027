"""What is told of jobs and executions; every read is bound to the caller's range."""

from collections.abc import Collection, Iterator, Sequence
from datetime import datetime, timedelta
from itertools import islice
from typing import NamedTuple
from uuid import UUID

from django.db.models import F, OuterRef, Q, QuerySet, Subquery

from openapi_app.domain.errors import ExecutionNotFound, JobNotFound, WhyNot
from openapi_app.domain.handlers import registered_handlers
from openapi_app.domain.summaries import (
    ExecutionGlance,
    ExecutionSummary,
    JobFilter,
    JobRange,
    JobSummary,
)
from openapi_app.domain.words import (
    ConcurrencyPolicy,
    ExecutionState,
    ScheduleType,
    Source,
    SyncStatus,
    public_state,
)
from openapi_app.models import Job, JobExecution
from openapi_app.models.beat import rows_of, why_not_synced
from openapi_app.models.turns import stuck_jobs
from orbit import clock
from tasks_app.public import TaskStanding, standings_of

__all__ = [
    "ExecutionGlance",
    "ExecutionSummary",
    "JobFilter",
    "JobRange",
    "JobSummary",
    "Position",
    "due_jobs",
    "execution_within",
    "executions_of",
    "executions_started_by",
    "is_synced",
    "job_within",
    "jobs_within",
    "latest_executions",
    "owns_task",
    "serial_jobs_held_by",
    "states_of",
    "stuck_jobs",
    "sync_reasons",
]

_BATCH = 200
_MILLISECOND = timedelta(milliseconds=1)


class Position(NamedTuple):
    """Where a list of executions, newest first, goes on."""

    accepted_at: datetime
    id: UUID


def jobs_within(
    within: JobRange, *, wanted: JobFilter, after: UUID | None, limit: int
) -> list[JobSummary]:
    """Jobs of the range by their ids: `limit` of them, and one more if there is."""
    return list(islice(_matching(within, wanted, after=after, limit=limit), limit + 1))


def job_within(within: JobRange, job_id: UUID) -> JobSummary:
    """One live job of the range; raises JobNotFound."""
    job = _reached(within).filter(id=job_id).first()
    if job is None:
        raise JobNotFound
    return _summaries([job])[0]


def executions_of(
    within: JobRange,
    job_id: UUID,
    *,
    after: Position | None,
    limit: int,
    only: Collection[UUID] | None = None,
) -> list[ExecutionSummary]:
    """The job's executions, newest first, `limit` of them and one more if there are.

    `only` narrows them to these ids. A job outside the range has none.
    """
    executions = _executions(within).filter(job_id=job_id)
    if only is not None:
        executions = executions.filter(id__in=only)
    if after is not None:
        executions = executions.filter(
            Q(accepted_at__lt=after.accepted_at)
            | Q(accepted_at=after.accepted_at, id__lt=after.id),
            accepted_at__lte=after.accepted_at,
        )
    return _execution_summaries(executions.order_by("-accepted_at", "-id")[: limit + 1])


def execution_within(within: JobRange, execution_id: UUID) -> ExecutionSummary:
    """One execution of a job of the range; raises ExecutionNotFound.

    The executions of a deleted job stay readable.
    """
    found = _execution_summaries(_executions(within).filter(id=execution_id))
    if not found:
        raise ExecutionNotFound
    return found[0]


def executions_started_by(token_id: UUID, *, limit: int) -> list[ExecutionSummary]:
    """The newest executions that a token started, whatever its range is now."""
    started = JobExecution.objects.filter(token_id=token_id).annotate(
        job_name=F("job__name"), group_name=F("job__group__name")
    )
    return _execution_summaries(started.order_by("-accepted_at", "-id")[:limit])


def is_synced(job: Job) -> bool:
    """Whether handler and scheduler's row are what the job says, at this moment."""
    return not sync_reasons([job])[job.id]


def sync_reasons(jobs: Sequence[Job]) -> dict[UUID, str]:
    """Why each job is not in step, for its owner; "" where it is. Two statements."""
    rows, now = rows_of(jobs), clock.now()
    return {job.id: why_not_synced(job, rows.get(job.id), now=now) for job in jobs}


def latest_executions(job_ids: Collection[UUID]) -> dict[UUID, ExecutionGlance]:
    """The newest execution of each job that has one."""
    newest = (
        JobExecution.objects.filter(job_id=OuterRef("id"))
        .order_by("-accepted_at", "-id")
        .values("id")[:1]
    )
    ids = (
        Job.objects.filter(id__in=job_ids)
        .annotate(newest_id=Subquery(newest))
        .exclude(newest_id=None)
        .values_list("newest_id", flat=True)
    )
    executions = list(JobExecution.objects.filter(id__in=list(ids)))
    standings = _standings(executions)
    return {execution.job_id: _glance(execution, standings) for execution in executions}


def states_of(executions: Sequence[JobExecution]) -> dict[UUID, ExecutionState]:
    """The public state of each execution, by its id; one statement."""
    standings = _standings(executions)
    return {execution.id: _state(execution, standings) for execution in executions}


def due_jobs(*, limit: int) -> list[UUID]:
    """Jobs with a nominal time that has come, longest due first."""
    known = [handler.name for handler in registered_handlers()]
    due = Job.objects.live().filter(
        is_enabled=True, next_run_at__lte=clock.now(), handler__in=known
    )
    return list(due.order_by("next_run_at").values_list("id", flat=True)[:limit])


def owns_task(*, execution_id: UUID, task_id: UUID) -> bool:
    """Whether the execution's one task is this, and its job exists in its namespace."""
    return JobExecution.objects.filter(
        id=execution_id, task_id=task_id, job__namespace_id=F("namespace_id")
    ).exists()


def serial_jobs_held_by(execution_ids: Collection[UUID]) -> set[UUID]:
    """Live serial jobs that these unsettled executions keep from going on."""
    return set(
        JobExecution.objects.filter(
            id__in=execution_ids,
            is_settled=False,
            is_waiting_turn=False,
            job__concurrency_policy=ConcurrencyPolicy.SERIAL,
            job__deleted_at__isnull=True,
        ).values_list("job_id", flat=True)
    )


def _reached(within: JobRange) -> QuerySet[Job]:
    reached: QuerySet[Job] = (
        Job.objects.live().filter(_in_range(within, prefix="")).select_related("group")
    )
    return reached


def _executions(within: JobRange) -> QuerySet[JobExecution]:
    return JobExecution.objects.filter(
        _in_range(within, prefix="job__"), namespace_id=within.namespace_id
    ).annotate(job_name=F("job__name"), group_name=F("job__group__name"))


def _in_range(within: JobRange, *, prefix: str) -> Q:
    reached = Q(**{f"{prefix}id__in": within.job_ids}) | Q(
        **{f"{prefix}group__name__in": within.group_names}
    )
    return reached & Q(**{f"{prefix}namespace_id": within.namespace_id})


def _matching(
    within: JobRange, wanted: JobFilter, *, after: UUID | None, limit: int
) -> Iterator[JobSummary]:
    """Matching jobs, read in batches: drift is seen only row by row."""
    jobs = _reached(within).filter(_condition(wanted)).order_by("id")
    size = limit + 1 if wanted.triggerable is None else max(limit + 1, _BATCH)
    while True:
        page = list((jobs if after is None else jobs.filter(id__gt=after))[:size])
        for summary in _summaries(page):
            if wanted.triggerable in (None, summary.triggerable):
                yield summary
        if len(page) < size:
            return
        after = page[-1].id


def _condition(wanted: JobFilter) -> Q:
    condition = Q()
    if wanted.group is not None:
        condition &= Q(group__name=wanted.group)
    if wanted.name is not None:
        condition &= Q(name=wanted.name)
    if wanted.triggerable:
        condition &= Q(is_enabled=True, sync_status=SyncStatus.SYNCED)
    return condition


def _summaries(jobs: Sequence[Job]) -> list[JobSummary]:
    reasons = sync_reasons(jobs)
    latest = latest_executions([job.id for job in jobs])
    return [
        _summary(job, is_in_step=not reasons[job.id], latest=latest.get(job.id))
        for job in jobs
    ]


def _summary(
    job: Job, *, is_in_step: bool, latest: ExecutionGlance | None
) -> JobSummary:
    why_not = None
    if not job.is_enabled:
        why_not = WhyNot.DISABLED
    elif not is_in_step:
        why_not = WhyNot.NOT_SYNCED
    return JobSummary(
        id=job.id,
        name=job.name,
        group=job.group.name,
        description=job.description,
        schedule_type=ScheduleType(job.schedule_type),
        timezone=job.timezone,
        enabled=job.is_enabled,
        triggerable=why_not is None,
        not_triggerable=why_not,
        next_run_at=job.next_run_at,
        last_execution=latest,
    )


def _standings(executions: Sequence[JobExecution]) -> dict[UUID, TaskStanding]:
    return standings_of([it.task_id for it in executions if it.task_id is not None])


def _state(
    execution: JobExecution, standings: dict[UUID, TaskStanding]
) -> ExecutionState:
    if execution.task_id is None:
        return ExecutionState.SKIPPED
    return public_state(standings[execution.task_id].state)


def _glance(
    execution: JobExecution, standings: dict[UUID, TaskStanding]
) -> ExecutionGlance:
    standing = standings.get(execution.task_id) if execution.task_id else None
    return ExecutionGlance(
        id=execution.id,
        state=_state(execution, standings),
        started_at=standing and standing.started_at,
        finished_at=standing.completed_at if standing else execution.accepted_at,
    )


def _execution_summaries(
    executions: QuerySet[JobExecution],
) -> list[ExecutionSummary]:
    found = list(executions)
    standings = _standings(found)
    return [_execution_summary(it, standings) for it in found]


def _execution_summary(
    execution: JobExecution, standings: dict[UUID, TaskStanding]
) -> ExecutionSummary:
    glance = _glance(execution, standings)
    standing = standings.get(execution.task_id) if execution.task_id else None
    return ExecutionSummary(
        id=execution.id,
        job_id=execution.job_id,
        job_name=execution.job_name,  # type: ignore[attr-defined]
        group=execution.group_name,  # type: ignore[attr-defined]
        source=Source(execution.source),
        state=glance.state,
        accepted_at=execution.accepted_at,
        started_at=glance.started_at,
        finished_at=glance.finished_at,
        duration_ms=_duration_ms(glance),
        attempts=standing.attempt_count if standing else 0,
    )


def _duration_ms(glance: ExecutionGlance) -> int | None:
    if glance.started_at is None or glance.finished_at is None:
        return None
    return (glance.finished_at - glance.started_at) // _MILLISECOND
