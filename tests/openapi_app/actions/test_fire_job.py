"""Firing: one execution for each nominal time, however often and late it is called."""

import threading
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection, transaction

from openapi_app.actions.disable_job import disable_job
from openapi_app.actions.enable_job import enable_job
from openapi_app.actions.fire_job import fire_job
from openapi_app.actions.save_job import save_job
from openapi_app.domain import handlers
from openapi_app.models import Job, JobExecution
from openapi_app.subscribers import fire_due_jobs
from orbit import clock
from tasks_app.public import QueueFull
from tests.openapi_app.builders import (
    a_draft,
    a_job,
    a_queue,
    again,
    at_once,
    change,
    executions,
    finish,
    let_be_due,
    task_of,
)

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("sent")]
HOURLY = {"schedule_type": "INTERVAL", "interval_seconds": 3600}


def fire(job):
    """Fire the job once."""
    return fire_job(job_id=job.id)


def test_a_due_job_gets_an_execution_with_its_task():
    job = a_job(parameters='{"amount": 1.10}', **HOURLY)
    nominal = let_be_due(job)

    execution = fire(job)

    assert (execution.source, execution.scheduled_for) == ("CRON", nominal)
    task = task_of(execution)
    assert (task.owner_kind, task.owner_id) == ("SCHEDULE", execution.id)
    assert (task.handler, task.handler_version) == (job.handler, "v7")
    assert (task.state, task.payload) == ("WAITING", '{"amount": 1.10}')
    assert again(job).next_run_at == nominal + timedelta(hours=1)


def test_a_job_that_is_not_due_is_not_fired():
    job = a_job(**HOURLY)

    assert fire(job) is None
    assert executions(job) == []


def test_fired_again_at_once_nothing_more_starts():
    job = a_job(**HOURLY)
    let_be_due(job)
    fire(job)

    assert fire(job) is None
    assert len(executions(job)) == 1


def test_two_beats_at_the_same_moment_start_one_execution():
    for _ in range(20):
        job = a_job(**HOURLY)
        let_be_due(job)

        answers = at_once(*[lambda job=job: fire(job)] * 4)

        assert [type(it) for it in answers].count(JobExecution) == 1, answers
        assert [it for it in answers if isinstance(it, Exception)] == []
        assert len(executions(job)) == 1


def test_the_database_refuses_a_second_execution_of_a_nominal_time():
    job = a_job(**HOURLY)
    nominal = let_be_due(job)
    fire(job)
    # A restarted scheduler that knows less than the table of executions.
    change(Job, job.id, next_run_at=nominal)

    assert fire(job) is None
    assert len(executions(job)) == 1
    assert again(job).next_run_at > nominal


def test_missed_times_get_one_execution_between_them():
    job = a_job(schedule_type="INTERVAL", interval_seconds=60)
    first = let_be_due(job, by=timedelta(hours=2, seconds=5))

    execution = fire(job)

    assert execution.scheduled_for == first + timedelta(hours=2)
    assert fire(job) is None
    assert again(job).next_run_at == first + timedelta(hours=2, minutes=1)


def test_under_ignore_what_is_late_is_left_out_and_the_next_time_comes():
    job = a_job(misfire_policy="IGNORE", **HOURLY)
    first = let_be_due(job, by=timedelta(minutes=2))

    assert fire(job) is None
    assert executions(job) == []
    assert again(job).next_run_at == first + timedelta(hours=1)


def test_under_ignore_what_is_a_little_late_fires():
    job = a_job(misfire_policy="IGNORE", **HOURLY)
    first = let_be_due(job, by=timedelta(seconds=30))

    assert fire(job).scheduled_for == first


def test_a_job_of_one_time_fires_once_and_has_no_next():
    job = a_job(
        schedule_type="ONCE",
        once_at=datetime.now(UTC) + timedelta(hours=1),  # noqa: TID251
    )
    at = clock.now()
    change(Job, job.id, next_run_at=at, once_at=at, schedule_set_at=at - timedelta(1))

    assert fire(job).scheduled_for == at
    assert again(job).next_run_at is None
    assert fire(job) is None


def test_a_schedule_edited_before_it_is_due_does_not_fire_its_old_time():
    queue = a_queue()
    draft = a_draft(queue=queue, **HOURLY)
    job = Job.objects.get(id=save_job(draft, job_id=None, by="ada"))
    let_be_due(job, by=timedelta(seconds=-1))

    edited = a_draft(
        queue=queue,
        group=job.group,
        name=job.name,
        schedule_type="INTERVAL",
        interval_seconds=7200,
    )
    save_job(edited, job_id=job.id, by="ada")

    row = again(job)
    assert row.next_run_at - row.schedule_set_at == timedelta(hours=2)
    assert fire(job) is None


def test_a_schedule_edited_while_it_fires_gives_each_nominal_time_one_execution():
    for _ in range(20):
        queue = a_queue()
        job = a_job(queue=queue, **HOURLY)
        let_be_due(job)
        edited = a_draft(
            queue=queue,
            group=job.group,
            name=job.name,
            schedule_type="CRON",
            cron="* * * * *",
        )

        answers = at_once(
            lambda job=job: fire(job),
            lambda job=job, edited=edited: save_job(edited, job_id=job.id, by="ada"),
            lambda job=job: fire(job),
        )

        assert [it for it in answers if isinstance(it, Exception)] == []
        times = [it.scheduled_for for it in executions(job)]
        assert len(times) == len(set(times)) <= 1
        assert again(job).next_run_at > again(job).schedule_set_at


def test_saving_without_a_new_schedule_leaves_the_nominal_time_as_it_is():
    queue = a_queue()
    job = a_job(queue=queue, **HOURLY)
    nominal = let_be_due(job, by=timedelta(minutes=-1))

    same = a_draft(
        queue=queue, group=job.group, name=job.name, description="new", **HOURLY
    )
    save_job(same, job_id=job.id, by="ada")

    assert again(job).next_run_at == nominal


def test_what_was_missed_while_disabled_is_not_made_up_for():
    job = a_job(**HOURLY)
    let_be_due(job, by=timedelta(minutes=5))
    disable_job(job_id=job.id, by="ada")
    assert fire(job) is None

    enable_job(job_id=job.id, by="ada")

    assert fire(job) is None
    assert executions(job) == []
    assert again(job).next_run_at > again(job).schedule_set_at


def test_a_full_queue_leaves_the_job_due():
    queue = a_queue(max_outstanding=1)
    job = a_job(queue=queue, **HOURLY)
    nominal = let_be_due(job)
    first = fire(job)
    change(Job, job.id, schedule_set_at=nominal - timedelta(hours=9))
    second = let_be_due(again(job))

    with pytest.raises(QueueFull):
        fire(job)

    assert again(job).next_run_at == second
    assert [it.id for it in executions(job)] == [first.id]
    finish(first)
    assert fire(job).scheduled_for == second


def test_a_job_whose_handler_is_gone_stays_due_until_it_is_back(monkeypatch):
    job = a_job(**HOURLY)
    nominal = let_be_due(job)
    with monkeypatch.context() as patch:
        patch.delitem(handlers._handlers, job.handler)
        assert fire(job) is None
        assert fire_due_jobs(limit=10) == 0
    assert again(job).next_run_at == nominal

    assert fire(job).scheduled_for == nominal


def test_the_maintenance_pass_fires_what_the_scheduler_did_not(sent):
    due, later = a_job(**HOURLY), a_job(**HOURLY)
    let_be_due(due)

    assert fire_due_jobs(limit=10) == 1

    assert sent == [it.id for it in executions(due)]
    assert executions(later) == []
    assert fire_due_jobs(limit=10) == 0


def test_one_full_queue_does_not_keep_other_jobs_from_firing(sent):
    full = a_job(queue=a_queue(max_outstanding=0), **HOURLY)
    let_be_due(full, by=timedelta(minutes=1))
    other = a_job(**HOURLY)
    let_be_due(other)

    assert fire_due_jobs(limit=10) == 1

    assert sent == [it.id for it in executions(other)]


def test_fire_waits_for_a_change_that_is_under_way():
    job = a_job(**HOURLY)
    let_be_due(job)
    holding, done = threading.Event(), threading.Event()

    def delete_slowly():
        with transaction.atomic():
            Job.objects.lock(job.id)
            holding.set()
            done.wait(1)
            change(Job, job.id, deleted_at=clock.now())

    def fire_meanwhile():
        holding.wait(5)
        return fire(job)

    answers = at_once(delete_slowly, fire_meanwhile)

    assert answers == [None, None]
    assert executions(job) == []
    assert not connection.in_atomic_block
