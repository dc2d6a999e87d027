"""What Celery calls: one message, one look at the row that it names."""

from uuid import UUID

import structlog
from django.db import connection

from openapi_app.actions.fire_job import fire_job
from openapi_app.actions.resend_executions import (
    find_unsent_executions,
    resend_executions,
)
from openapi_app.gateways.celery import (
    RUN_EXECUTION,
    RUN_PROBE,
    send_execution,
)
from openapi_app.models.beat import FIRE_JOB
from openapi_app.workers import shutdown
from openapi_app.workers.execution import execute, probe
from openapi_app.workers.lost_probes import resend_lost_probes
from orbit.celery import app
from orbit.errors import Refusal
from orbit.ids import parse_id

__all__ = [
    "fire_scheduled_job",
    "resend_lost",
    "resend_lost_probes",
    "run_execution",
    "run_probe",
    "shutdown",
]

log = structlog.get_logger("openapi_app.schedule")


@app.task(name=RUN_EXECUTION)
def run_execution(execution_id: str) -> None:
    """Run the execution if it may run now; else do nothing.

    So a message that comes twice, too late or for nothing does no harm.
    """
    found = parse_id(execution_id)
    if found is not None:
        execute(found)


@app.task(name=RUN_PROBE)
def run_probe(probe_id: str) -> None:
    """Look whether an execution took effect, if that is still asked."""
    found = parse_id(probe_id)
    if found is not None:
        probe(found)


@app.task(name=FIRE_JOB)
def fire_scheduled_job(job_id: str) -> None:
    """Start the job's execution whose time has come; the scheduler says that it has.

    What cannot start now stays due, and maintenance fires it.
    """
    found = parse_id(job_id)
    if found is None:
        return
    connection.close_if_unusable_or_obsolete()
    try:
        execution = fire_job(job_id=found)
    except Refusal as refusal:
        log.warning("job_not_fired", job_id=job_id, code=refusal.code)
        return
    if execution is not None and execution.can_run_now:
        send_execution(execution.id)


def resend_lost(*, limit: int) -> int:
    """Send again up to `limit` executions that were accepted and not taken.

    A maintenance pass; it ends at the first message that the broker does not take.
    """
    sent: list[UUID] = []
    for execution_id in find_unsent_executions(limit=limit):
        if not send_execution(execution_id):
            break
        sent.append(execution_id)
    if sent:
        resend_executions(sent)
    return len(sent)
