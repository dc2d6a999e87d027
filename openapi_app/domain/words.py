"""The closed vocabularies of jobs and executions."""

from enum import StrEnum


class ScheduleType(StrEnum):
    """When a job fires by itself; NONE is only triggered."""

    CRON = "CRON"
    INTERVAL = "INTERVAL"
    ONCE = "ONCE"
    NONE = "NONE"


class SyncStatus(StrEnum):
    """Whether the scheduler's row says exactly what the job says."""

    PENDING = "PENDING"
    SYNCED = "SYNCED"
    FAILED = "FAILED"


class ConcurrencyPolicy(StrEnum):
    """What happens when a job fires while an earlier execution is not final.

    PARALLEL runs both, SERIAL lets the later one wait at a gate, in order, and SKIP
    records the later one as skipped.
    """

    PARALLEL = "PARALLEL"
    SERIAL = "SERIAL"
    SKIP = "SKIP"


class MisfirePolicy(StrEnum):
    """What happens to nominal times that passed unnoticed."""

    FIRE_ONCE = "FIRE_ONCE"
    IGNORE = "IGNORE"


class Source(StrEnum):
    """What started an execution."""

    CRON = "CRON"
    OPEN_API = "OPEN_API"
    ADMIN = "ADMIN"


class ExecutionState(StrEnum):
    """The public state of an execution; all but SKIPPED are its task's."""

    ACCEPTED = "ACCEPTED"
    RUNNING = "RUNNING"
    SUCCEEDED = "SUCCEEDED"
    FAILED = "FAILED"
    CANCELLED = "CANCELLED"
    NEEDS_REVIEW = "NEEDS_REVIEW"
    SKIPPED = "SKIPPED"


def public_state(task_state: str | None) -> ExecutionState:
    """The execution's state for its task's; None is an execution without a task."""
    if task_state is None:
        return ExecutionState.SKIPPED
    if task_state == "WAITING":
        return ExecutionState.ACCEPTED
    return ExecutionState(task_state)
