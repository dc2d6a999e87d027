"""What is told of jobs and executions, and to whom."""

from dataclasses import fields
from datetime import timedelta

import pytest
from django_celery_beat.models import PeriodicTask

from openapi_app.actions.delete_job import delete_job
from openapi_app.actions.disable_job import disable_job
from openapi_app.domain.errors import ExecutionNotFound, JobNotFound, WhyNot
from openapi_app.models import Job, JobExecution
from openapi_app.models.beat import row_name
from openapi_app.queries import (
    ExecutionSummary,
    JobFilter,
    JobRange,
    JobSummary,
    Position,
    execution_within,
    executions_of,
    job_within,
    jobs_within,
    serial_jobs_held_by,
)
from orbit.ids import new_id
from tasks_app.public import Reach, ReportKind
from tasks_app.queries import recovery_slo
from tests.openapi_app.builders import (
    a_group,
    a_job,
    a_queue,
    change,
    claim,
    finish,
    report,
    review,
    run_now,
)

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("sent")]
EVERYTHING = JobFilter()


def range_of(*jobs, groups=(), namespace_id=None):
    """A range of these jobs and groups."""
    return JobRange(
        namespace_id=namespace_id or (*jobs, *groups)[0].namespace_id,
        job_ids=tuple(job.id for job in jobs),
        group_names=tuple(group.name for group in groups),
    )


def ids(found):
    """The ids of what was found, in order."""
    return [it.id for it in found]


def last_of(job):
    """The job's last execution as its summary tells it."""
    return job_within(range_of(job), job.id).last_execution


def listed(within, wanted=EVERYTHING, after=None, limit=100):
    """The ids of a page of jobs."""
    return ids(jobs_within(within, wanted=wanted, after=after, limit=limit))


def test_a_range_is_job_ids_and_groups_united():
    queue = a_queue()
    group = a_group(namespace_id=queue.namespace_id)
    one, two = a_job(queue=queue, group=group), a_job(queue=queue, group=group)
    three, four = a_job(queue=queue), a_job(queue=queue)

    assert listed(range_of(three, one, groups=[group])) == [one.id, two.id, three.id]
    assert listed(range_of(four)) == [four.id]


def test_an_empty_range_is_nothing():
    job = a_job()

    assert listed(JobRange(namespace_id=job.namespace_id)) == []
    with pytest.raises(JobNotFound):
        job_within(JobRange(namespace_id=job.namespace_id), job.id)


def test_another_namespace_is_out_of_range_whatever_is_named():
    job = a_job()
    within = range_of(job, groups=[job.group], namespace_id=new_id())
    execution = run_now(job)

    assert listed(within) == []
    assert executions_of(within, job.id, after=None, limit=10) == []
    with pytest.raises(JobNotFound):
        job_within(within, job.id)
    with pytest.raises(ExecutionNotFound):
        execution_within(within, execution.id)


def test_a_job_that_leaves_the_group_leaves_the_range():
    job = a_job()
    within = range_of(groups=[job.group])
    assert listed(within) == [job.id]

    change(Job, job.id, group=a_group(namespace_id=job.namespace_id))

    assert listed(within) == []


def test_a_deleted_job_is_gone_and_its_executions_stay():
    job = a_job()
    execution = run_now(job)
    delete_job(job_id=job.id, by="ada")

    assert listed(range_of(job)) == []
    with pytest.raises(JobNotFound):
        job_within(range_of(job), job.id)
    assert execution_within(range_of(job), execution.id).id == execution.id


def test_pages_of_jobs_have_each_job_once_and_tell_of_more():
    queue = a_queue()
    jobs = [a_job(queue=queue) for _ in range(5)]
    within = range_of(*jobs)

    first = listed(within, limit=2)
    assert len(first) == 3
    second = listed(within, after=first[1], limit=2)
    third = listed(within, after=second[1], limit=2)

    assert first[:2] + second[:2] + third == sorted(job.id for job in jobs)


def test_jobs_are_filtered_by_group_name_and_whether_they_may_start():
    queue = a_queue()
    fine, off, drifted = (
        a_job(queue=queue, schedule_type="INTERVAL", interval_seconds=60)
        for _ in range(3)
    )
    disable_job(job_id=off.id, by="ada")
    PeriodicTask.objects.filter(name=row_name(drifted.id)).update(enabled=False)
    within = range_of(fine, off, drifted)

    assert listed(within, JobFilter(name=off.name)) == [off.id]
    assert listed(within, JobFilter(group=fine.group.name)) == [fine.id]
    assert listed(within, JobFilter(group="none")) == []
    assert listed(within, JobFilter(triggerable=True), limit=1) == [fine.id]
    assert listed(within, JobFilter(triggerable=False)) == [off.id, drifted.id]
    found = jobs_within(within, wanted=EVERYTHING, after=None, limit=10)
    assert [it.not_triggerable for it in found] == [
        None,
        WhyNot.DISABLED,
        WhyNot.NOT_SYNCED,
    ]
    assert [it.triggerable for it in found] == [True, False, False]


def test_a_summary_has_the_public_members_and_no_others():
    assert {field.name for field in fields(JobSummary)} == {
        "id",
        "name",
        "group",
        "description",
        "schedule_type",
        "timezone",
        "enabled",
        "triggerable",
        "not_triggerable",
        "next_run_at",
        "last_execution",
    }
    assert {field.name for field in fields(ExecutionSummary)} == {
        "id",
        "job_id",
        "job_name",
        "group",
        "source",
        "state",
        "accepted_at",
        "started_at",
        "finished_at",
        "duration_ms",
        "attempts",
    }


@pytest.mark.parametrize(
    ("kind", "state"),
    [
        (ReportKind.SUCCEED, "SUCCEEDED"),
        (ReportKind.FAIL, "FAILED"),
        (ReportKind.UNKNOWN, "NEEDS_REVIEW"),
    ],
)
def test_the_state_of_an_execution_is_its_tasks(kind, state):
    job = a_job()
    execution = run_now(job)
    within = range_of(job)

    accepted = execution_within(within, execution.id)
    assert (accepted.state, accepted.attempts) == ("ACCEPTED", 0)
    assert (accepted.started_at, accepted.duration_ms) == (None, None)

    assignment = claim(execution)
    running = execution_within(within, execution.id)
    assert (running.state, running.attempts) == ("RUNNING", 1)
    assert running.started_at is not None

    report(assignment, kind)
    ended = execution_within(within, execution.id)
    assert ended.state == state
    assert (ended.finished_at is None) == (state == "NEEDS_REVIEW")
    assert (ended.duration_ms is None) == (state == "NEEDS_REVIEW")
    assert (ended.job_name, ended.group) == (job.name, job.group.name)
    assert last_of(job).state == state


def test_a_skipped_execution_is_told_as_skipped():
    job = a_job(concurrency_policy="SKIP")
    run_now(job)
    skipped = run_now(job)

    found = execution_within(range_of(job), skipped.id)

    assert (found.state, found.attempts, found.started_at) == ("SKIPPED", 0, None)
    assert last_of(job).id == skipped.id


def test_executions_come_newest_first_and_page_without_gaps():
    job = a_job()
    started = [run_now(job).id for _ in range(5)]
    within = range_of(job)

    first = executions_of(within, job.id, after=None, limit=2)
    assert len(first) == 3
    after = Position(first[1].accepted_at, first[1].id)
    rest = executions_of(within, job.id, after=after, limit=10)

    assert ids(first[:2]) + ids(rest) == started[::-1]
    only = executions_of(within, job.id, after=None, limit=9, only=[started[2]])
    assert ids(only) == [started[2]]


def test_a_longer_list_takes_no_more_statements(django_assert_num_queries):
    queue = a_queue()
    jobs = [a_job(queue=queue) for _ in range(6)]
    for job in jobs:
        finish(run_now(job))

    for count in (1, 6):
        within = range_of(*jobs[:count])
        with django_assert_num_queries(6):
            assert len(listed(within)) == count
    with django_assert_num_queries(2):
        executions_of(range_of(*jobs), jobs[0].id, after=None, limit=50)


def test_a_serial_job_is_blocked_while_its_turn_waits_for_a_review():
    queue = a_queue()
    serial = a_job(queue=queue, concurrency_policy="SERIAL")
    parallel = a_job(queue=queue)
    for job in (serial, parallel):
        finish(run_now(job), ReportKind.UNKNOWN)
        run_now(job)
    reach = Reach(namespace_id=queue.namespace_id, queue_ids=None)

    blocked = recovery_slo(reach, window=timedelta(days=1))
    review(JobExecution.objects.filter(job=serial).earliest("accepted_at"))
    afterwards = recovery_slo(reach, window=timedelta(days=1))

    assert (blocked.needs_review, blocked.serial_jobs_blocked) == (2, 1)
    assert (afterwards.needs_review, afterwards.serial_jobs_blocked) == (1, 0)


def test_a_deleted_serial_job_is_not_blocked():
    job = a_job(concurrency_policy="SERIAL")
    execution = run_now(job)
    assert serial_jobs_held_by([execution.id]) == {job.id}

    delete_job(job_id=job.id, by="ada")

    assert serial_jobs_held_by([execution.id]) == set()
