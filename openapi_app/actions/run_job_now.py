"""A person starts an execution of a job."""

from uuid import UUID

from openapi_app.actions.start_execution import start_execution
from openapi_app.domain.errors import JobNotFound
from openapi_app.domain.words import Source
from openapi_app.models import Job, JobExecution
from orbit import clock
from tasks_app.public import Actor, patiently


def run_job_now(
    *, job_id: UUID, actor: Actor, by: str, request_id: UUID | None = None
) -> JobExecution:
    """The new execution; `by` is the person's name. Send it once this has returned.

    Raises JobNotFound, JobNotTriggerable, QueueFull, ApplicationFull or
    ApplicationDisabled; then nothing was started.
    """
    return patiently(
        lambda is_patient: _run(
            job_id, actor=actor, by=by, request_id=request_id, is_patient=is_patient
        )
    )


def _run(
    job_id: UUID, *, actor: Actor, by: str, request_id: UUID | None, is_patient: bool
) -> JobExecution:
    job = Job.objects.keep(job_id)
    if job is None:
        raise JobNotFound
    return start_execution(
        job=job,
        source=Source.ADMIN,
        now=clock.now(),
        is_patient=is_patient,
        actor=actor,
        started_by=by,
        request_id=request_id,
    )
