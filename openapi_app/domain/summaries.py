"""What is told of jobs and executions: never handler, parameters, result or error."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from openapi_app.domain.errors import WhyNot
from openapi_app.domain.words import ExecutionState, ScheduleType, Source


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRange:
    """The jobs of a caller: by id and by group name, united; empty means nothing."""

    namespace_id: UUID
    job_ids: tuple[UUID, ...] = ()
    group_names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class JobFilter:
    """Which jobs a list shows; None leaves a member open."""

    group: str | None = None
    name: str | None = None
    triggerable: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutionGlance:
    """The latest execution of a job, in few words."""

    id: UUID
    state: ExecutionState
    started_at: datetime | None
    finished_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class JobSummary:
    """A job as the open API shows it; `not_triggerable` says why not, or is None."""

    id: UUID
    name: str
    group: str
    description: str
    schedule_type: ScheduleType
    timezone: str
    enabled: bool
    triggerable: bool
    not_triggerable: WhyNot | None
    next_run_at: datetime | None
    last_execution: ExecutionGlance | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutionSummary:
    """An execution as the open API shows it."""

    id: UUID
    job_id: UUID
    job_name: str
    group: str
    source: Source
    state: ExecutionState
    accepted_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    duration_ms: int | None
    attempts: int
