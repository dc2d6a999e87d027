"""Jobs and executions as the tests need them, brought about by the real actions."""

import itertools
import secrets
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from uuid import UUID

import msgspec
from django.db import connection

from openapi_app.actions.run_job_now import run_job_now
from openapi_app.actions.save_job import save_job
from openapi_app.domain.handlers import job_handler
from openapi_app.domain.job_rules import JobDraft
from openapi_app.models import Job, JobExecution, JobGroup
from tasks_app.actions.create_application import create_application
from tasks_app.actions.create_namespace import create_namespace
from tasks_app.actions.create_queue import create_queue
from tasks_app.actions.review_task import review_task
from tasks_app.domain.access import Actor, ActorKind, Reach
from tasks_app.domain.commands import ClaimTasks, ReviewTask, WorkerIn
from tasks_app.domain.idempotency import identify
from tasks_app.domain.lifecycle import Failure
from tasks_app.domain.limits import QueueLimits
from tasks_app.domain.reports import Report, ReportKind
from tasks_app.models import Queue, Task
from tasks_app.public import ENGINE, claim_tasks, report_attempts

ADA = Actor(id=UUID(int=0xADA), kind=ActorKind.USER)
HANDLER = "tests.quiet"
SAFE_HANDLER = "tests.safe"

_numbers = itertools.count(1)


class Amount(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The parameters of the tests' handlers."""

    amount: msgspec.Raw = msgspec.Raw(b"0")


@job_handler(HANDLER, version="v7", parameters=Amount)
def quiet(_context, _parameters):
    """Do nothing."""


@job_handler(SAFE_HANDLER, parameters=Amount, recovery_safety="REPLAY_SAFE")
def safe(_context, _parameters):
    """Do nothing, again and again."""


def a_queue(**limits):
    """A new queue of a new application in a new namespace."""
    namespace_id = create_namespace(
        name=f"tenant {next(_numbers)}", number=secrets.randbelow(2**40) + 10
    )
    application_id = create_application(
        namespace_id=namespace_id, name="jobs", max_outstanding=1_000_000
    )
    queue_id = create_queue(
        application_id=application_id,
        name="jobs",
        limits=QueueLimits(**limits),
        reach=Reach(namespace_id=namespace_id, queue_ids=None),
    )
    return Queue.objects.get(id=queue_id)


def a_group(*, namespace_id=None, name=None):
    """A new group, in a new namespace unless one is given."""
    return JobGroup.objects.create(
        namespace_id=namespace_id or a_queue().namespace_id,
        name=name or f"group {next(_numbers)}",
    )


def a_draft(*, queue=None, group=None, **changes):
    """A valid job to be saved, but for what the test changes."""
    queue = queue or a_queue()
    group = group or a_group(namespace_id=queue.namespace_id)
    wanted = {
        "namespace_id": queue.namespace_id,
        "group_id": group.id,
        "queue_id": queue.id,
        "name": f"job {next(_numbers)}",
        "handler": HANDLER,
    }
    return JobDraft(**{**wanted, **changes})


def a_job(**changes):
    """A saved job, valid but for what the test changes."""
    return Job.objects.get(id=save_job(a_draft(**changes), job_id=None, by="ada"))


def again(row):
    """The row as it is now."""
    return type(row).objects.get(pk=row.pk)


def change(model, pk, **values):
    """Change a row behind the actions' backs."""
    assert model.objects.filter(pk=pk).update(**values) == 1


def let_be_due(job, *, by=timedelta(0)):
    """Let the job's next nominal time be as if it had come `by` ago; answers it."""
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE openapi_job SET schedule_set_at = schedule_set_at - shift,"
            " next_run_at = next_run_at - shift"
            " FROM (SELECT next_run_at - clock_timestamp() + %s AS shift"
            "       FROM openapi_job WHERE id = %s) s WHERE id = %s"
            " RETURNING openapi_job.next_run_at",
            [by, job.id, job.id],
        )
        return cursor.fetchone()[0]


def run_now(job):
    """An execution that a person starts."""
    return run_job_now(job_id=job.id, actor=ADA, by="ada")


def task_of(execution):
    """The execution's task as it is now."""
    return Task.objects.get(id=again(execution).task_id)


def reach_of(task):
    """The reach of somebody who may touch the task."""
    return Reach(namespace_id=task.namespace_id, queue_ids=None)


def claim(execution):
    """Lease the execution's task, as its worker does; None when it may not start."""
    task = task_of(execution)
    found = claim_tasks(
        ClaimTasks(worker=WorkerIn(name="tests", instance_id="5" * 32)),
        queue_id=task.queue_id,
        task_id=task.id,
        actor=ENGINE,
        reach=reach_of(task),
    )
    return found[0] if found else None


def report(assignment, kind=ReportKind.SUCCEED, *, is_retryable=False):
    """End the attempt."""
    answer = report_attempts(
        [
            Report(
                attempt_id=assignment.attempt_id,
                lease_token=assignment.lease_token,
                kind=kind,
                result="{}" if kind is ReportKind.SUCCEED else None,
                failure=Failure(code="BROKEN", message="The ledger said no."),
                is_retryable=is_retryable,
            )
        ],
        actor=ENGINE,
        reach=reach_of(assignment.task),
    )[0]
    if isinstance(answer, Exception):
        raise answer
    return answer


def finish(execution, kind=ReportKind.SUCCEED):
    """Claim and end the execution."""
    return report(claim(execution), kind)


def review(execution, *, outcome="SUCCEEDED", key="review-1"):
    """A person settles the execution's task."""
    task = task_of(execution)
    return review_task(
        ReviewTask(
            expected_revision=str(task.revision),
            reason="Looked at the ledger.",
            evidence_ref="evidence:1",
            execution_settled=True,
            outcome=outcome,
            result=msgspec.Raw(b'{"seen":true}'),
        ),
        task_id=task.id,
        identity=identify(key=key, content=b"{}"),
        actor=ADA,
        reach=reach_of(task),
    )


def executions(job):
    """The job's executions, oldest first."""
    return list(JobExecution.objects.filter(job=job).order_by("accepted_at", "id"))


class Crew:
    """Real threads, each with its own connection, that act at the same moment."""

    def __init__(self, count):
        self.pool = ThreadPoolExecutor(count)
        self.count = count

    def at_once(self, *acts):
        """What each act answered or raised."""
        together = threading.Barrier(len(acts))
        return list(self.pool.map(lambda act: _attempt(act, together), acts))

    def close(self):
        """End the threads and their connections."""
        self.at_once(*[_hang_up] * self.count)
        self.pool.shutdown()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def _hang_up():
    # Each thread's own: a bound method would be that of whoever names it.
    connection.close()


def _attempt(act, together):
    connection.ensure_connection()
    together.wait(timeout=30)
    try:
        return act()
    except Exception as error:  # noqa: BLE001 - the test judges it
        return error


def at_once(*acts):
    """What each act answered or raised; all ran at the same moment in real threads."""
    with Crew(len(acts)) as crew:
        return crew.at_once(*acts)
