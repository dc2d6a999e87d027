"""Jobs with turns and schedules, on workers that die and schedulers that double."""

import json
from collections import Counter

import pytest

from openapi_app.gateways.celery import send_execution
from openapi_app.models import JobExecution
from openapi_app.models.beat import FIRE_JOB
from orbit.celery import app
from orbit.stack.processes import Command, Process, python
from tests.live import eventually
from tests.openapi_app.builders import (
    a_job,
    a_queue,
    executions,
    let_be_due,
    review,
    run_now,
    task_of,
)
from tests.openapi_app.celery import handlers
from tests.openapi_app.celery.builders import database_url, maintain
from tests.servers import SESSION

pytest_plugins = ["tests.openapi_app.celery.fixtures"]

HANDLERS = handlers  # a job names only handlers that this process knows


def a_traced_job(traces, *, sleep_ms=0, **changes):
    """A saved job that leaves traces."""
    parameters = {"file": str(traces), "sleep_ms": sleep_ms}
    return a_job(
        queue=a_queue(lease_ms=1_000),
        handler="test.traced",
        parameters=json.dumps(parameters),
        **changes,
    )


def state_of(execution):
    """The state of its task, after a pass of maintenance."""
    maintain()
    return task_of(execution).state


def words_in(traces):
    """The first words of the traces so far."""
    lines = traces.read_text().splitlines() if traces.exists() else []
    return [line.split()[0] for line in lines]


def test_a_serial_job_waits_behind_a_review_and_goes_on_once(bench, workers):
    traces = bench.traces
    worker = workers()
    job = a_traced_job(traces, sleep_ms=2_000, concurrency_policy="SERIAL")
    first, second, third = (run_now(job) for _ in range(3))
    for execution in (first, second, third):
        assert send_execution(execution.id)
    eventually(lambda: words_in(traces) == ["begin"])
    worker.kill()
    eventually(lambda: state_of(first) == "NEEDS_REVIEW")
    workers()
    assert [task_of(it).is_gated for it in (second, third)] == [True, True]
    review(first)
    eventually(lambda: state_of(third) == "SUCCEEDED")
    assert words_in(traces) == ["begin", "begin", "end", "begin", "end"]
    assert [task_of(it).attempt_count for it in (first, second, third)] == [1, 1, 1]
    ended, began = task_of(second).completed_at, task_of(third).updated_at
    assert ended < began


def test_a_scheduler_that_says_it_three_times_starts_one_execution(bench, workers):
    worker = workers()
    eventually(lambda: "ready" in worker.text())
    job = a_traced_job(bench.traces, schedule_type="INTERVAL", interval_seconds=3_600)
    nominal = let_be_due(job)
    for _ in range(3):
        app.send_task(FIRE_JOB, args=(job.id.hex,))
    eventually(lambda: words_in(bench.traces) == ["begin", "end"])
    (execution,) = executions(job)
    assert (execution.source, execution.scheduled_for) == ("CRON", nominal)


@pytest.fixture
def two_beats(bench, broker, tmp_path):  # noqa: ARG001 - their rows and messages
    """Two schedulers at once on the same rows."""
    beats = []
    for number in range(2):
        with (tmp_path / f"beat-{number}.log").open("w") as output:
            beats.append(
                Process(
                    Command(
                        name="beat",
                        argv=python(
                            *("-m", "celery", "-A", "orbit", "beat", "--pidfile=")
                        ),
                        environment={
                            "DATABASE_URL": database_url(),
                            "CELERY_BROKER_URL": broker.url(),
                        },
                    ),
                    instance=SESSION.guarded(),
                    output=output,
                )
            )
    yield beats
    for beat in beats:
        beat.stop()


@pytest.mark.usefixtures("two_beats")
def test_two_schedulers_start_one_execution_for_each_nominal_time(bench, workers):
    workers()
    job = a_traced_job(bench.traces, schedule_type="INTERVAL", interval_seconds=1)
    eventually(lambda: len(executions(job)) >= 5)
    job.delete()
    times = Counter(JobExecution.objects.values_list("scheduled_for", flat=True))
    assert set(times.values()) == {1}
    assert {it.source for it in JobExecution.objects.all()} == {"CRON"}
