"""What jobs do when the engine calls: owners of tasks, and passes of maintenance."""

from collections.abc import Mapping, Sequence
from uuid import UUID

import structlog
from django.db import transaction

from openapi_app.actions.advance_jobs import advance_jobs
from openapi_app.actions.fire_job import fire_job
from openapi_app.actions.release_turn import release_turn
from openapi_app.domain.handlers import has_probe
from openapi_app.gateways.celery import send_execution, send_probe
from openapi_app.models.turns import blocked_by, keep_jobs_of, waiting_behind
from openapi_app.queries import due_jobs, owns_task, serial_jobs_held_by, stuck_jobs
from orbit.errors import Refusal
from tasks_app.public import Blocked, Settled, WaitingTurn

# A list says "100", and no more than that, of what waits behind one execution.
MOST_COUNTED = 100

log = structlog.get_logger("openapi_app.schedule")


class ExecutionOwner:
    """Speaks for the tasks of executions at the engine's door."""

    def refuse_review(self, *, task_id: UUID, owner_id: UUID | None) -> str | None:
        """Refused unless the execution and its job vouch for the task."""
        if owner_id is None or not owns_task(execution_id=owner_id, task_id=task_id):
            return "No execution of a job vouches for this task; nothing was changed."
        return None

    def refuse_retry(self, *, task_id: UUID, owner_id: UUID | None) -> str | None:
        """Always refused: an execution has one task."""
        del task_id, owner_id
        return "Run the job again: it creates a new execution."

    def refuse_probe(self, *, handler: str) -> str | None:
        """Refused for a handler that declares none."""
        if has_probe(handler):
            return None
        return (
            f"The handler {handler!r} declares no probe. Look for the effect where it"
            " would be, and review the task."
        )

    def announce_probe(self, *, probe_id: UUID) -> None:
        """Sent after the commit, like an execution."""
        transaction.on_commit(lambda: send_probe(probe_id), robust=True)

    def before_settling(self, owner_ids: Sequence[UUID]) -> None:
        """Jobs are locked before quota, as when an execution is started."""
        keep_jobs_of(owner_ids)

    def waiting_behind(self, *, owner_id: UUID, limit: int) -> Sequence[WaitingTurn]:
        """The later executions of a serial job that wait for this one."""
        return waiting_behind(owner_id, limit=limit)

    def blocked_by(self, owner_ids: Sequence[UUID]) -> Mapping[UUID, Blocked]:
        """The serial jobs that wait for these executions."""
        return blocked_by(owner_ids, limit=MOST_COUNTED)

    def on_settled(self, settled: Sequence[Settled]) -> None:
        """Serial jobs go on; the executions let through are sent after the commit."""
        opened = advance_jobs(settled=[task.owner_id for task in settled])
        if opened:
            transaction.on_commit(lambda: _send(opened), robust=True)

    def held_up_by(self, owner_ids: Sequence[UUID]) -> set[UUID]:
        """The serial jobs whose turn these executions have."""
        return serial_jobs_held_by(owner_ids)


def fire_due_jobs(*, limit: int) -> int:
    """Fire up to `limit` jobs whose nominal time has come: a maintenance pass.

    The scheduler usually was here first. What cannot start now stays due.
    """
    fired = 0
    for job_id in due_jobs(limit=limit):
        try:
            execution = fire_job(job_id=job_id)
        except Refusal as refusal:
            log.warning("job_not_fired", job_id=job_id.hex, code=refusal.code)
            continue
        fired += 1
        if execution is not None and execution.can_run_now:
            send_execution(execution.id)
    return fired


def release_turns(*, limit: int) -> int:
    """Let up to `limit` serial jobs go on that were passed over: a maintenance pass."""
    opened: list[UUID] = []
    for job_id in stuck_jobs(limit=limit):
        opened += release_turn(job_id=job_id)
    _send(opened)
    return len(opened)


def _send(execution_ids: Sequence[UUID]) -> None:
    for execution_id in execution_ids:
        send_execution(execution_id)
