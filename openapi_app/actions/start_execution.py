"""Start an execution of a job, as a step of its caller's transaction."""

from datetime import datetime
from uuid import UUID

from openapi_app.domain.errors import JobNotTriggerable, WhyNot
from openapi_app.domain.handlers import Handler, find_handler
from openapi_app.domain.words import ConcurrencyPolicy, Source
from openapi_app.models import Job, JobExecution
from openapi_app.models.beat import rows_of, why_not_synced
from openapi_app.models.turns import is_busy, take_turn
from orbit import clock
from orbit.ids import new_id
from orbit.transactions import require_transaction
from tasks_app.public import (
    Actor,
    OwnedTask,
    OwnerKind,
    RecoverySafety,
    RetryPolicy,
    open_task,
)


def start_execution(  # noqa: PLR0913 - what its row says
    *,
    job: Job,
    source: Source,
    now: datetime,
    is_patient: bool,
    actor: Actor,
    scheduled_for: datetime | None = None,
    token_id: UUID | None = None,
    key_id: str = "",
    started_by: str = "",
    request_id: UUID | None = None,
) -> JobExecution:
    """The new execution with its task; run it within `patiently`.

    `job` was read by `Job.objects.keep` or `.lock` in this transaction. A SERIAL job's
    execution waits its turn behind a gate while an earlier one is not final; a SKIP
    job's is recorded without a task. Raises JobNotTriggerable and what `open_task`
    raises; the transaction must then end, nothing may be kept.
    """
    require_transaction()
    handler = _handler_of(job, source=source, now=now)
    policy = ConcurrencyPolicy(job.concurrency_policy)
    is_behind = False
    if policy is not ConcurrencyPolicy.PARALLEL:
        take_turn(job.id)
        # Turns go by acceptance: the moment must be the turn's own.
        now = clock.now()
        is_behind = is_busy(job.id)
    is_skipped = is_behind and policy is ConcurrencyPolicy.SKIP
    is_gated = is_behind and policy is ConcurrencyPolicy.SERIAL
    execution = JobExecution(
        id=new_id(),
        namespace_id=job.namespace_id,
        tenant_id=job.tenant_id,
        job=job,
        source=source,
        scheduled_for=scheduled_for,
        token_id=token_id,
        key_id=key_id,
        started_by=started_by,
        request_id=request_id,
        is_waiting_turn=is_gated,
        is_settled=is_skipped,
        accepted_at=now,
    )
    if not is_skipped:
        task = _task(job, handler, execution_id=execution.id, is_gated=is_gated)
        execution.task_id = open_task(task, actor=actor, now=now, is_patient=is_patient)
    execution.save(force_insert=True)
    return execution


def _handler_of(job: Job, *, source: Source, now: datetime) -> Handler:
    if not job.is_enabled:
        raise JobNotTriggerable(WhyNot.DISABLED)
    handler = find_handler(job.handler)
    if handler is None:
        raise JobNotTriggerable(WhyNot.NOT_SYNCED)
    # A nominal time comes from the job's own row, whatever the scheduler's says.
    if source is not Source.CRON and why_not_synced(
        job, rows_of([job]).get(job.id), now=now
    ):
        raise JobNotTriggerable(WhyNot.NOT_SYNCED)
    return handler


def _task(
    job: Job, handler: Handler, *, execution_id: UUID, is_gated: bool
) -> OwnedTask:
    return OwnedTask(
        namespace_id=job.namespace_id,
        queue_id=job.queue_id,
        owner_kind=OwnerKind.SCHEDULE,
        owner_id=execution_id,
        handler=handler.name,
        handler_version=handler.version,
        payload=job.parameters,
        retry=RetryPolicy(
            max_attempts=job.max_attempts,
            initial_delay_ms=job.initial_delay_ms,
            max_delay_ms=job.max_delay_ms,
            attempt_timeout_ms=job.attempt_timeout_ms,
        ),
        task_timeout_ms=job.task_timeout_ms,
        recovery_safety=RecoverySafety(job.recovery_safety),
        is_gated=is_gated,
    )
