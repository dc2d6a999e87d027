"""One attempt at an execution: claim, run under a kept lease, report."""

import functools
import os
import socket
import time
from uuid import UUID, uuid4

import structlog
from django.db import InterfaceError, OperationalError, connection

from openapi_app.domain.handlers import Context
from openapi_app.gateways.celery import send_execution
from openapi_app.models.reach import task_of
from openapi_app.workers.interruption import Interruption
from openapi_app.workers.lease import LeaseKeeper, kept
from openapi_app.workers.verdict import Verdict, conclude, too_large
from orbit.errors import Invalid, Refusal
from tasks_app.public import (
    ENGINE,
    Assignment,
    ClaimTasks,
    Reach,
    ReportKind,
    State,
    WorkerIn,
    claim_tasks,
    namespace_of,
    report_attempts,
)

# How often a report is tried while the database is away, and the pauses between.
PAUSES = (0.1, 0.4, 1.0, 2.0, 4.0, 8.0, None)

log = structlog.get_logger("openapi_app.execution")


def execute(execution_id: UUID) -> None:
    """Claim the execution and see it through; nothing when it cannot be claimed."""
    connection.close_if_unusable_or_obsolete()
    found = task_of(execution_id)
    if found is None or found.task_id is None:
        return
    is_due_again = _attempt(
        found.task_id, namespace_id=found.namespace_id, subject_id=execution_id
    )
    if is_due_again:
        send_execution(execution_id)


def probe(probe_id: UUID) -> None:
    """Claim the task of a probe and see it through, likewise."""
    connection.close_if_unusable_or_obsolete()
    namespace_id = namespace_of(probe_id)
    if namespace_id is not None:
        _attempt(probe_id, namespace_id=namespace_id, subject_id=probe_id)


def _attempt(task_id: UUID, *, namespace_id: UUID, subject_id: UUID) -> bool:
    """Whether the task may be claimed again at once."""
    assignment = _claim(task_id, namespace_id=namespace_id)
    if assignment is None:
        return False
    started_at = time.monotonic()
    verdict = _run(subject_id, assignment)
    state = _report(assignment, verdict)
    log.info(
        "execution_attempt_ended",
        execution_id=subject_id.hex,
        attempt=assignment.attempt_number,
        kind=verdict.kind,
        state=state,
        duration_ms=round((time.monotonic() - started_at) * 1000),
    )
    return state == State.WAITING and assignment.task.initial_delay_ms == 0


def _claim(task_id: UUID, *, namespace_id: UUID) -> Assignment | None:
    assignments = claim_tasks(
        ClaimTasks(worker=_worker(os.getpid())),
        queue_id=None,
        task_id=task_id,
        actor=ENGINE,
        reach=Reach(namespace_id=namespace_id, queue_ids=None),
    )
    return assignments[0] if assignments else None


@functools.cache
def _worker(_pid: int) -> WorkerIn:
    name = f"celery@{socket.gethostname()}"[:200]
    return WorkerIn(name=name, instance_id=uuid4().hex)


def _run(execution_id: UUID, assignment: Assignment) -> Verdict:
    context = Context(
        execution_id=execution_id,
        attempt_number=assignment.attempt_number,
        raw_parameters=assignment.task.payload,
    )
    interruption = Interruption()
    keeper = LeaseKeeper(assignment, context=context, interruption=interruption)
    try:
        with kept(keeper):
            return conclude(assignment, context=context, interruption=interruption)
    finally:
        if keeper.has_struck or connection.in_atomic_block:
            # Whatever was being asked of it when the handler was stopped is off.
            connection.close()


def _report(assignment: Assignment, verdict: Verdict) -> str:
    """The state of the task after the report, or why it was not taken."""
    answer = _told(assignment, verdict)
    if isinstance(answer, Invalid) and verdict.kind is ReportKind.SUCCEED:
        answer = _told(assignment, too_large(answer))
    return answer.code if isinstance(answer, Refusal) else answer


def _told(assignment: Assignment, verdict: Verdict) -> str | Refusal:
    report = verdict.report(assignment)
    reach = Reach(namespace_id=assignment.task.namespace_id, queue_ids=None)
    for pause in PAUSES:
        try:
            answer = report_attempts([report], actor=ENGINE, reach=reach)[0]
        except (OperationalError, InterfaceError):
            if pause is None:
                raise
            connection.close()
            time.sleep(pause)
        else:
            return answer if isinstance(answer, Refusal) else answer.state
    raise AssertionError("The last pause raises.")
