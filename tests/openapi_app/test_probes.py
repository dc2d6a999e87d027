"""A probe of a job's task is for the job's own workers."""

import pytest

from tasks_app.actions.start_probe import start_probe
from tasks_app.domain.commands import ClaimTasks, HandlerFilter, WorkerIn
from tasks_app.domain.idempotency import identify
from tasks_app.models import Task
from tasks_app.public import ENGINE, ReportKind, claim_tasks
from tests.openapi_app.builders import ADA, a_job, finish, reach_of, run_now, task_of

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("sent"),
]

PARAMETERS = '{"from": "a", "to": "b", "amount": 1.10}'


def test_a_worker_of_the_protocol_never_gets_it_whatever_handlers_it_has():
    execution = run_now(a_job(handler="ledger.transfer", parameters=PARAMETERS))
    finish(execution, ReportKind.UNKNOWN)
    task = task_of(execution)
    start_probe(
        task_id=task.id,
        identity=identify(key="probe-1", content=b"{}"),
        actor=ADA,
        reach=reach_of(task),
    )
    probe = Task.objects.get(owner_kind="PROBE", owner_id=task.id)
    named = HandlerFilter(handler=probe.handler, handler_version=probe.handler_version)

    assert _claimed(task) == []
    assert _claimed(task, handlers=[named]) == []
    [lease] = _claimed(task, task_id=probe.id)
    assert lease.task.id == probe.id


def _claimed(task, *, task_id=None, **wanted):
    return claim_tasks(
        ClaimTasks(worker=WorkerIn(name="w", instance_id="5" * 32), **wanted),
        queue_id=task.queue_id,
        task_id=task_id,
        actor=ENGINE,
        reach=reach_of(task),
    )
