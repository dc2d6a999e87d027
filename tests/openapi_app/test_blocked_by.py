"""The inbox names the serial job that waits behind a task."""

import pytest

from openapi_app.subscribers import ExecutionOwner
from tasks_app.public import ReportKind
from tasks_app.queries.inbox import InboxFilter, inbox
from tests.openapi_app.builders import a_job, finish, run_now

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("sent"),
]


def test_the_serial_job_behind_a_task_is_named_with_what_waits():
    job = a_job(concurrency_policy="SERIAL")
    first, second, third = (run_now(job) for _ in range(3))
    finish(first, ReportKind.UNKNOWN)

    [item] = inbox(InboxFilter(), after=None, limit=9)
    told = ExecutionOwner().blocked_by([first.id, second.id, third.id])

    assert item.blocked == told[first.id]
    assert (item.blocked.job_name, item.blocked.executions) == (job.name, 2)
    assert {it: told[it].executions for it in told} == {first.id: 2, second.id: 1}


def test_a_parallel_job_waits_for_nothing():
    job = a_job(concurrency_policy="PARALLEL")
    first, _ = run_now(job), run_now(job)
    finish(first, ReportKind.UNKNOWN)

    [item] = inbox(InboxFilter(), after=None, limit=9)

    assert item.blocked is None
