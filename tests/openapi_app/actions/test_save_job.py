"""Saving a job: its rules, and the scheduler's row in the same transaction."""

import json

import pytest
from django_celery_beat.models import (
    ClockedSchedule,
    CrontabSchedule,
    IntervalSchedule,
    PeriodicTask,
)

from openapi_app.actions.delete_job import delete_job
from openapi_app.actions.disable_job import disable_job
from openapi_app.actions.enable_job import enable_job
from openapi_app.actions.run_job_now import run_job_now
from openapi_app.actions.save_job import save_job
from openapi_app.actions.synchronise_job import synchronise_job
from openapi_app.domain import handlers
from openapi_app.domain.errors import (
    GroupNotFound,
    InvalidJob,
    JobNameTaken,
    JobNotFound,
    JobNotTriggerable,
    WhyNot,
)
from openapi_app.models import Job, JobExecution
from openapi_app.models.beat import row_name
from openapi_app.queries import is_synced, sync_reasons
from orbit.ids import new_id
from tests.openapi_app.builders import (
    ADA,
    HANDLER,
    SAFE_HANDLER,
    a_draft,
    a_group,
    a_job,
    a_queue,
    again,
    at_once,
    change,
    run_now,
)

pytestmark = pytest.mark.django_db(transaction=True)
CRON = {
    "schedule_type": "CRON",
    "cron": "30 2 * * mon-fri",
    "timezone": "Europe/Berlin",
}


def row_of(job):
    """The scheduler's row of the job."""
    return PeriodicTask.objects.get(name=row_name(job.id))


def reason_of(job):
    """Why the job is not in step; "" if it is."""
    return sync_reasons([again(job)])[job.id]


def test_a_cron_job_gets_a_row_that_says_what_the_job_says():
    job = a_job(**CRON)

    row = row_of(job)
    assert (row.task, json.loads(row.args)) == ("openapi_app.fire_job", [job.id.hex])
    assert (row.kwargs, row.enabled, row.one_off) == ("{}", True, False)
    assert (row.crontab.minute, row.crontab.hour) == ("30", "2")
    assert row.crontab.day_of_week == "1,2,3,4,5"
    assert str(row.crontab.timezone) == "Europe/Berlin"
    assert (job.sync_status, job.sync_reason) == ("SYNCED", "")
    assert is_synced(job)


def test_an_interval_job_gets_its_interval():
    row = row_of(a_job(schedule_type="INTERVAL", interval_seconds=90))

    assert (row.interval.every, row.interval.period) == (90, "seconds")


def test_a_job_without_a_schedule_has_no_row_and_is_in_step():
    job = a_job()

    assert PeriodicTask.objects.filter(name=row_name(job.id)).count() == 0
    assert is_synced(job)
    assert job.next_run_at is None


def test_a_job_that_loses_its_schedule_loses_its_row():
    queue = a_queue()
    job = a_job(queue=queue, **CRON)

    save_job(
        a_draft(queue=queue, group=job.group, name=job.name), job_id=job.id, by="bob"
    )

    assert PeriodicTask.objects.filter(name=row_name(job.id)).count() == 0
    assert is_synced(again(job))
    assert (again(job).created_by, again(job).updated_by) == ("ada", "bob")


def test_job_and_row_are_written_together_or_not_at_all(monkeypatch):
    queue = a_queue()
    job = a_job(queue=queue, **CRON)
    changed = a_draft(
        queue=queue,
        group=job.group,
        name="renamed",
        schedule_type="INTERVAL",
        interval_seconds=5,
    )

    def fail(*_args, **_kwargs):
        raise ZeroDivisionError

    with monkeypatch.context() as patch:
        patch.setattr(Job, "save", fail)
        with pytest.raises(ZeroDivisionError):
            save_job(changed, job_id=job.id, by="ada")

    assert again(job).name == job.name
    assert row_of(job).crontab is not None
    assert IntervalSchedule.objects.count() == 0
    assert is_synced(again(job))


def test_disabling_and_enabling_reach_the_row_in_the_same_transaction():
    job = a_job(**CRON)

    assert disable_job(job_id=job.id, by="bob")
    assert not disable_job(job_id=job.id, by="bob")
    assert not row_of(job).enabled
    assert again(job).next_run_at is None
    assert is_synced(again(job))

    assert enable_job(job_id=job.id, by="bob")
    assert not enable_job(job_id=job.id, by="bob")
    assert row_of(job).enabled
    assert again(job).next_run_at is not None
    assert is_synced(again(job))


def test_a_deleted_job_leaves_the_scheduler_and_frees_its_name():
    queue = a_queue()
    job = a_job(queue=queue, **CRON)

    delete_job(job_id=job.id, by="ada")

    assert PeriodicTask.objects.filter(name=row_name(job.id)).count() == 0
    assert a_job(queue=queue, group=job.group, name=job.name).id != job.id
    for act in (delete_job, enable_job, disable_job):
        with pytest.raises(JobNotFound):
            act(job_id=job.id, by="ada")
    with pytest.raises(JobNotFound):
        synchronise_job(job_id=job.id)
    with pytest.raises(JobNotFound):
        run_now(job)


DRIFTS = {
    "switched off": {"enabled": False},
    "another task": {"task": "somebody.elses"},
    "another job": {"args": '["00"]'},
    "more arguments": {"kwargs": '{"a": 1}'},
    "once only": {"one_off": True},
    "another queue": {"queue": "slow"},
    "expires": {"expire_seconds": 1},
    "headers": {"headers": '{"x": 1}'},
    "priority": {"priority": 3},
}


@pytest.mark.parametrize("drift", DRIFTS.values(), ids=DRIFTS)
def test_a_row_that_somebody_edited_shows_the_job_as_not_synced(drift):
    job = a_job(**CRON)
    change(PeriodicTask, row_of(job).pk, **drift)

    assert not is_synced(again(job))
    assert "differs" in reason_of(job)
    with pytest.raises(JobNotTriggerable) as refusal:
        run_now(job)
    assert refusal.value.reason is WhyNot.NOT_SYNCED

    assert synchronise_job(job_id=job.id)
    assert is_synced(again(job))


def test_an_edited_crontab_and_a_missing_row_are_drift_too():
    job = a_job(**CRON)
    change(CrontabSchedule, row_of(job).crontab_id, minute="31")
    assert "schedule" in reason_of(job)
    assert synchronise_job(job_id=job.id)
    assert reason_of(job) == ""

    row_of(job).delete()
    assert "missing" in reason_of(job)
    assert synchronise_job(job_id=job.id)
    assert reason_of(job) == ""


def test_a_row_that_should_not_be_is_drift():
    job = a_job()
    PeriodicTask.objects.create(
        name=row_name(job.id),
        task="openapi_app.fire_job",
        interval=IntervalSchedule.objects.create(every=1, period="days"),
    )

    assert not is_synced(again(job))
    assert synchronise_job(job_id=job.id)
    assert is_synced(again(job))


def test_the_scheduler_switching_off_what_ran_once_is_no_drift(monkeypatch):
    job = a_job(
        schedule_type="ONCE", once_at=again(a_job()).created_at.replace(year=9000)
    )
    change(PeriodicTask, row_of(job).pk, enabled=False)
    assert not is_synced(again(job))

    change(Job, job.id, next_run_at=None)

    assert is_synced(again(job))
    assert ClockedSchedule.objects.get().clocked_time == job.once_at
    del monkeypatch


def test_without_its_handler_a_job_is_not_synced_and_not_started(monkeypatch):
    with monkeypatch.context() as patch:
        job = a_job(**CRON)
        assert is_synced(job)
        patch.delitem(handlers._handlers, HANDLER)

        assert "No handler" in reason_of(job)
        with pytest.raises(JobNotTriggerable) as refusal:
            run_now(job)
        assert refusal.value.reason is WhyNot.NOT_SYNCED
        assert HANDLER not in refusal.value.message

        assert not synchronise_job(job_id=job.id)
        assert again(job).sync_status == "FAILED"
        assert HANDLER in again(job).sync_reason

    assert synchronise_job(job_id=job.id)
    assert again(job).sync_status == "SYNCED"


def test_a_disabled_job_is_not_started_and_leaves_no_row():
    job = a_job(is_enabled=False)

    with pytest.raises(JobNotTriggerable) as refusal:
        run_now(job)

    assert refusal.value.reason is WhyNot.DISABLED
    assert JobExecution.objects.count() == 0


def test_once_disabling_has_returned_nothing_starts():
    for _ in range(10):
        job = a_job()

        def disable_then_run(job=job):
            disable_job(job_id=job.id, by="ada")
            return run_now(job)

        answers = at_once(lambda job=job: run_now(job), disable_then_run)

        assert isinstance(answers[1], JobNotTriggerable)
        started = JobExecution.objects.filter(job=job).count()
        assert started == (0 if isinstance(answers[0], Exception) else 1)


PARAMETERS = '{ "amount" :\n 9007199254740993.10 }'


def test_parameters_are_kept_as_typed():
    assert a_job(parameters=PARAMETERS).parameters == PARAMETERS


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"name": ""}, "name"),
        ({"name": " padded"}, "name"),
        ({"name": "two\nlines"}, "name"),
        ({"name": "x" * 201}, "name"),
        ({"handler": ""}, "handler"),
        ({"description": "\0"}, "description"),
        ({"parameters": ""}, "parameters"),
        ({"parameters": "[]"}, "parameters"),
        ({"parameters": '{"amount": 1, "amount": 2}'}, "parameters"),
        ({"parameters": '{"amount": NaN}'}, "parameters"),
        ({"parameters": '{"amount": 1} x'}, "parameters"),
        ({"parameters": '{"unknown": 1}'}, "parameters"),
        ({"parameters": '{"amount": "' + "x" * 262_144 + '"}'}, "parameters"),
        ({"parameters": "[1]", "handler": "nobody"}, "parameters"),
        ({"parameters": '{"a": "\ud800"}', "handler": "nobody"}, "parameters"),
        ({"schedule_type": "DAILY"}, "schedule_type"),
        ({"schedule_type": "CRON", "cron": "x"}, "cron"),
        ({**CRON, "timezone": "Mars/Olympus"}, "timezone"),
        ({"schedule_type": "INTERVAL"}, "interval_seconds"),
        ({"schedule_type": "ONCE"}, "once_at"),
        ({"concurrency_policy": "MAYBE"}, "concurrency_policy"),
        ({"misfire_policy": "MAYBE"}, "misfire_policy"),
        ({"recovery_safety": "MAYBE"}, "recovery_safety"),
        ({"recovery_safety": "REPLAY_SAFE"}, "recovery_safety"),
        ({"max_attempts": 0}, "max_attempts"),
        ({"max_attempts": 101}, "max_attempts"),
        ({"initial_delay_ms": -1}, "initial_delay_ms"),
        ({"max_delay_ms": 2_592_000_001}, "max_delay_ms"),
        ({"attempt_timeout_ms": 0}, "attempt_timeout_ms"),
        ({"task_timeout_ms": 59_999}, "task_timeout_ms"),
        ({"queue_id": new_id()}, "queue_id"),
    ],
)
def test_a_broken_rule_is_told_at_its_field_and_nothing_is_written(changes, field):
    with pytest.raises(InvalidJob) as refusal:
        a_job(**changes)

    assert refusal.value.field == field
    assert (Job.objects.count(), PeriodicTask.objects.count()) == (0, 0)


def test_a_handler_that_promises_it_may_be_replay_safe():
    job = a_job(handler=SAFE_HANDLER, recovery_safety="REPLAY_SAFE")

    assert job.recovery_safety == "REPLAY_SAFE"


def test_a_name_is_taken_once_in_its_group_also_at_the_same_moment():
    queue = a_queue()
    group = a_group(namespace_id=queue.namespace_id)
    draft = a_draft(queue=queue, group=group, name="nightly", **CRON)

    answers = at_once(*[lambda: save_job(draft, job_id=None, by="ada")] * 4)

    assert [type(it) for it in answers].count(JobNameTaken) == 3
    assert Job.objects.filter(group=group).count() == 1
    assert PeriodicTask.objects.count() == 1
    assert a_job(queue=queue, name="nightly").name == "nightly"


def test_a_group_or_queue_of_another_namespace_is_not_found():
    with pytest.raises(GroupNotFound):
        a_job(group=a_group())
    with pytest.raises(InvalidJob):
        a_job(queue=a_queue(), queue_id=a_queue().id)
    job = a_job()
    with pytest.raises(JobNotFound):
        save_job(a_draft(), job_id=job.id, by="ada")
    with pytest.raises(JobNotFound):
        run_job_now(job_id=new_id(), actor=ADA, by="ada")
