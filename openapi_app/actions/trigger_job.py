"""Start a job on behalf of an outside caller, once for each key."""

from dataclasses import dataclass
from functools import partial
from uuid import UUID

from openapi_app.actions.start_execution import start_execution
from openapi_app.domain.errors import JobNotFound
from openapi_app.domain.idempotency import TriggerIdentity
from openapi_app.domain.refusals import JobCannotRun, KeyInProgress, KeyReused
from openapi_app.domain.summaries import ExecutionSummary
from openapi_app.domain.words import ExecutionState, Source
from openapi_app.models import Job, JobExecution
from openapi_app.models.key_claims import Claim, KeyTaken, claim_key, find_claim
from orbit.errors import Forbidden, NotFound
from tasks_app.public import Actor, ActorKind, patiently


@dataclass(frozen=True, slots=True, kw_only=True)
class TriggerJob:
    """Who wants which job, by which key."""

    identity: TriggerIdentity
    key_id: str
    caller: str
    request_id: UUID | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Triggered:
    """The execution that the key stands for.

    `is_ready` says that it is new and its task may be run at once; `accepted` is a new
    one as it was accepted, None for a replay.
    """

    execution_id: UUID
    is_replay: bool
    is_ready: bool
    accepted: ExecutionSummary | None = None


def trigger_job(trigger: TriggerJob) -> Triggered:
    """The execution of this key: a new one, or the one it started within 24 hours.

    A replay needs neither an enabled nor a synchronised job. Raises KeyReused,
    JobNotFound, JobNotTriggerable, JobCannotRun, QueueFull or ApplicationFull: then
    nothing was started, and nothing is remembered of the call.
    """
    claim = find_claim(trigger.identity)
    if claim.execution_id is None:
        try:
            return patiently(partial(_start, trigger, claim))
        except KeyTaken:
            claim = find_claim(trigger.identity)
    return _replay(trigger, claim)


def _replay(trigger: TriggerJob, claim: Claim) -> Triggered:
    if claim.execution_id is None:
        raise KeyInProgress
    if claim.content_digest != trigger.identity.content_digest:
        raise KeyReused
    return Triggered(execution_id=claim.execution_id, is_replay=True, is_ready=False)


def _start(trigger: TriggerJob, claim: Claim, *, is_patient: bool) -> Triggered:
    identity = trigger.identity
    if is_patient:
        # It waited its turn: the time is later now, and the key may be taken.
        claim = find_claim(identity)
        if claim.execution_id is not None:
            raise KeyTaken
    job = Job.objects.keep(identity.job_id)
    if job is None:
        raise JobNotFound
    execution = _open(trigger, job, claim, is_patient=is_patient)
    claim_key(
        identity,
        namespace_id=job.namespace_id,
        tenant_id=job.tenant_id,
        execution_id=execution.id,
        now=claim.now,
    )
    return Triggered(
        execution_id=execution.id,
        is_replay=False,
        is_ready=execution.task_id is not None and not execution.is_waiting_turn,
        accepted=_accepted(execution, job),
    )


def _open(
    trigger: TriggerJob, job: Job, claim: Claim, *, is_patient: bool
) -> JobExecution:
    try:
        return start_execution(
            job=job,
            source=Source.OPEN_API,
            now=claim.now,
            is_patient=is_patient,
            actor=Actor(id=trigger.identity.token_id, kind=ActorKind.TOKEN),
            token_id=trigger.identity.token_id,
            key_id=trigger.key_id,
            started_by=trigger.caller,
            request_id=trigger.request_id,
        )
    except (Forbidden, NotFound) as refusal:
        # The engine's words are about its queue, which is not the caller's business.
        raise JobCannotRun from refusal


def _accepted(execution: JobExecution, job: Job) -> ExecutionSummary:
    is_skipped = execution.task_id is None
    return ExecutionSummary(
        id=execution.id,
        job_id=job.id,
        job_name=job.name,
        group=job.kept_group_name,
        source=Source.OPEN_API,
        state=ExecutionState.SKIPPED if is_skipped else ExecutionState.ACCEPTED,
        accepted_at=execution.accepted_at,
        started_at=None,
        finished_at=execution.accepted_at if is_skipped else None,
        duration_ms=None,
        attempts=0,
    )
