"""Serial jobs: in order, behind review too, and let go on exactly once."""

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import pytest
from django.db import connection, transaction

from openapi_app import subscribers
from openapi_app.actions.delete_job import delete_job
from openapi_app.actions.save_job import save_job
from openapi_app.domain.words import ExecutionState
from openapi_app.models import JobExecution
from openapi_app.models.turns import keep_jobs_of
from openapi_app.queries import states_of, stuck_jobs
from openapi_app.subscribers import release_turns
from tasks_app.actions.cancel_task import cancel_task
from tasks_app.actions.expire_tasks import expire_tasks
from tasks_app.actions.retry_task import retry_task
from tasks_app.domain.commands import CancelTask, RetryTask
from tasks_app.domain.errors import StateConflict
from tasks_app.domain.idempotency import identify
from tasks_app.models import OperationAudit, QuotaShare, Task
from tasks_app.public import ReportKind
from tests.openapi_app.builders import (
    ADA,
    Crew,
    a_draft,
    a_job,
    a_queue,
    again,
    at_once,
    change,
    claim,
    executions,
    finish,
    reach_of,
    report,
    review,
    run_now,
    task_of,
)

pytestmark = pytest.mark.django_db(transaction=True)


def a_serial_job(**changes):
    """A job that runs one execution at a time."""
    return a_job(concurrency_policy="SERIAL", **changes)


def is_gated(execution):
    """Whether the execution's task waits behind the gate; both rows must agree."""
    waits = again(execution).is_waiting_turn
    assert task_of(execution).is_gated == waits
    return waits


def cancel(execution, key="cancel-1"):
    """A person cancels the execution's task."""
    task = task_of(execution)
    return cancel_task(
        CancelTask(),
        task_id=task.id,
        identity=identify(key=key, content=b"{}"),
        actor=ADA,
        reach=reach_of(task),
    )


def state_of(execution):
    """The public state of the execution."""
    row = again(execution)
    return states_of([row])[row.id]


def test_a_parallel_job_runs_all_at_once(sent):
    job = a_job()
    first, second = run_now(job), run_now(job)

    assert claim(first)
    assert claim(second)
    assert sent == []


def test_the_later_execution_of_a_serial_job_waits_at_the_gate():
    job = a_serial_job()
    first, second = run_now(job), run_now(job)

    assert not is_gated(first)
    assert is_gated(second)
    assert claim(second) is None
    assert state_of(second) is ExecutionState.ACCEPTED


def test_when_the_first_is_done_the_next_goes_on_in_order(sent):
    job = a_serial_job()
    runs = [run_now(job) for _ in range(4)]

    for done, (current, following) in enumerate(pairwise(runs)):
        finish(current)
        assert not is_gated(following)
        assert [is_gated(it) for it in runs[done + 2 :]] == [True] * (2 - done)

    finish(runs[-1])
    assert sent == [it.id for it in runs[1:]]
    assert all(again(it).is_settled for it in runs)


@pytest.mark.parametrize("kind", [ReportKind.SUCCEED, ReportKind.FAIL])
def test_a_serial_job_goes_on_after_success_and_failure_alike(kind, sent):
    job = a_serial_job()
    first, second = run_now(job), run_now(job)

    finish(first, kind)

    assert not is_gated(second)
    assert sent == [second.id]


def test_a_retryable_failure_keeps_the_next_waiting(sent):
    job = a_serial_job(max_attempts=2)
    first, second = run_now(job), run_now(job)

    report(claim(first), ReportKind.FAIL, is_retryable=True)

    assert state_of(first) is ExecutionState.ACCEPTED
    assert is_gated(second)
    assert sent == []


def test_a_serial_job_waits_behind_review_and_goes_on_after_it_once(sent):
    job = a_serial_job()
    first, second, third = run_now(job), run_now(job), run_now(job)
    finish(first, ReportKind.UNKNOWN)
    assert is_gated(second)

    review(first)
    replayed = review(first)

    assert replayed.deduplicated
    assert state_of(first) is ExecutionState.SUCCEEDED
    assert not is_gated(second)
    assert is_gated(third)
    assert sent == [second.id]


def test_rivals_in_review_let_the_next_go_on_once(sent):
    for _ in range(10):
        job = a_serial_job()
        first, second, third = run_now(job), run_now(job), run_now(job)
        finish(first, ReportKind.UNKNOWN)
        sent.clear()

        answers = at_once(
            *[
                lambda it=it, first=first: review(first, key=f"review-{it}")
                for it in range(4)
            ]
        )

        assert sum(isinstance(it, StateConflict) for it in answers) == 3, answers
        assert sent == [second.id]
        assert not is_gated(second)
        assert is_gated(third)


def test_a_review_that_is_rolled_back_lets_nothing_go_on(sent, monkeypatch):
    job = a_serial_job()
    first, second = run_now(job), run_now(job)
    finish(first, ReportKind.UNKNOWN)

    with monkeypatch.context() as patch:
        patch.setattr("tasks_app.models.review.Answered", lambda **_: 1 // 0)
        with pytest.raises(ZeroDivisionError):
            review(first)

    assert state_of(first) is ExecutionState.NEEDS_REVIEW
    assert is_gated(second)
    assert not again(first).is_settled
    assert sent == []


def test_cancelling_the_one_that_runs_next_passes_its_turn_on(sent):
    job = a_serial_job()
    first, second, third = run_now(job), run_now(job), run_now(job)
    cancel(second)
    assert is_gated(third)

    finish(first)

    assert state_of(second) is ExecutionState.CANCELLED
    assert not is_gated(third)
    assert sent == [third.id]


def test_an_overdue_execution_passes_its_turn_on(sent):
    job = a_serial_job()
    first, second = run_now(job), run_now(job)
    change(Task, task_of(first).id, deadline_at=again(first).accepted_at)

    assert expire_tasks(limit=10) == 1

    assert state_of(first) is ExecutionState.FAILED
    assert not is_gated(second)
    assert sent == [second.id]


def test_a_skip_job_records_the_later_execution_without_a_task():
    job = a_job(concurrency_policy="SKIP")
    first, second = run_now(job), run_now(job)

    assert state_of(second) is ExecutionState.SKIPPED
    assert again(second).task_id is None
    assert Task.objects.filter(owner_id=second.id).count() == 0

    finish(first)
    third = run_now(job)

    assert state_of(third) is ExecutionState.ACCEPTED


def test_a_skip_job_skips_behind_review_too():
    job = a_job(concurrency_policy="SKIP")
    finish(run_now(job), ReportKind.UNKNOWN)

    assert state_of(run_now(job)) is ExecutionState.SKIPPED


def test_a_job_that_becomes_serial_waits_for_what_runs_in_parallel(sent):
    queue = a_queue()
    job = a_job(queue=queue)
    first, second = run_now(job), run_now(job)
    save_job(
        a_draft(
            queue=queue, group=job.group, name=job.name, concurrency_policy="SERIAL"
        ),
        job_id=job.id,
        by="ada",
    )
    third = run_now(job)

    finish(second)
    assert is_gated(third)
    finish(first)

    assert not is_gated(third)
    assert sent == [third.id]


def test_a_deleted_job_lets_what_waits_go_on(sent):
    job = a_serial_job()
    first, second = run_now(job), run_now(job)
    delete_job(job_id=job.id, by="ada")

    finish(first)

    assert sent == [second.id]


def test_a_review_is_refused_when_no_execution_vouches_for_the_task():
    execution = run_now(a_job())
    finish(execution, ReportKind.UNKNOWN)
    task = task_of(execution)
    other = run_now(a_job())
    change(Task, task.id, owner_id=other.id)
    audits = OperationAudit.objects.count()

    with pytest.raises(StateConflict) as refusal:
        review(execution)

    assert refusal.value.details["reason"] == "OWNER"
    assert OperationAudit.objects.count() == audits
    assert Task.objects.get(id=task.id).state == "NEEDS_REVIEW"


def test_a_direct_retry_is_refused_with_the_way_out():
    execution = run_now(a_job())
    finish(execution, ReportKind.FAIL)
    task = task_of(execution)

    with pytest.raises(StateConflict) as refusal:
        retry_task(
            RetryTask(
                expected_revision=str(task.revision),
                reason="Again.",
                evidence_ref="evidence:1",
                safe_to_retry=True,
                task_timeout_ms=3_600_000,
            ),
            task_id=task.id,
            identity=identify(key="retry-1", content=b"{}"),
            actor=ADA,
            reach=reach_of(task),
        )

    assert refusal.value.details["reason"] == "OWNER"
    assert "new execution" in refusal.value.message
    assert Task.objects.filter(retry_of=task.id).count() == 0


def test_what_was_passed_over_is_let_go_on_by_maintenance(sent):
    job = a_serial_job()
    first, second, third = run_now(job), run_now(job), run_now(job)
    assignment = claim(first)
    with transaction.atomic():
        # Somebody looks at the next task while the one before it settles.
        Task.objects.select_for_update().get(id=second.task_id)
        assert at_once(lambda: report(assignment))[0].state == "SUCCEEDED"
    assert is_gated(second)
    assert stuck_jobs(limit=10) == [job.id]

    assert release_turns(limit=10) == 1

    assert not is_gated(second)
    assert is_gated(third)
    assert sent == [second.id]
    assert release_turns(limit=10) == 0


def test_starting_and_settling_at_once_never_strands_an_execution(sent):
    job = a_serial_job()
    current = run_now(job)
    with Crew(2) as crew:
        for _ in range(200):
            assignment = claim(current)
            assert assignment
            started, settled = crew.at_once(
                lambda: run_now(job), lambda it=assignment: report(it)
            )
            assert settled.state == "SUCCEEDED"
            assert not is_gated(started)
            current = started

    assert len(sent) <= 200
    assert len(set(sent)) == len(sent)
    assert stuck_jobs(limit=10) == []


def test_many_starters_and_one_worker_keep_the_order_of_a_serial_job(sent):
    job = a_serial_job()
    ran: list[object] = []

    def start():
        try:
            return run_now(job)
        finally:
            connection.close()

    with ThreadPoolExecutor(6) as pool:
        started = [pool.submit(start) for _ in range(40)]
        while len(ran) < 40:
            ready = JobExecution.objects.filter(
                job=job, is_settled=False, is_waiting_turn=False
            )
            found = list(ready)
            assert len(found) <= 1
            for execution in found:
                finish(execution)
                ran.append(execution.id)
        for future in started:
            future.result()

    assert ran == [it.id for it in executions(job)]
    assert len(sent) == len(set(sent))


@pytest.mark.parametrize("is_patient", [False, True])
def test_settling_locks_jobs_before_quota(is_patient, monkeypatch):
    execution = run_now(a_job())
    assignment = claim(execution)
    shares = QuotaShare.objects.filter(scope_id=assignment.task.queue_id)
    free = []

    def lock_shares():
        with transaction.atomic():
            return len(shares.select_for_update(nowait=True))

    def look_before(owner_ids):
        free.extend(at_once(lock_shares))
        keep_jobs_of(owner_ids)

    def at_first(write):
        with transaction.atomic(durable=True):
            return write(is_patient=is_patient)

    monkeypatch.setattr(subscribers, "keep_jobs_of", look_before)
    monkeypatch.setattr("tasks_app.actions.report_attempts.patiently", at_first)

    report(assignment)

    assert free == [shares.count()]


@pytest.mark.usefixtures("sent")
def test_a_crowded_quota_neither_deadlocks_nor_miscounts():
    queue = a_queue(max_outstanding=6)
    jobs = [a_job(queue=queue, concurrency_policy="SERIAL") for _ in range(2)]
    crew = Crew(6)
    for _ in range(40):
        running = [
            claim(it)
            for it in JobExecution.objects.filter(
                job__in=jobs, is_settled=False, is_waiting_turn=False
            )
        ]
        acts = [lambda it=it: report(it) for it in running if it]
        acts += [lambda job=job: run_now(job) for job in (*jobs, *jobs)]

        answers = crew.at_once(*acts)

        faults = [it for it in answers if isinstance(it, Exception)]
        assert {type(it).__name__ for it in faults} <= {"QueueFull"}, faults

    crew.close()
    free = sum(it.available for it in QuotaShare.objects.filter(scope_id=queue.id))
    outstanding = Task.objects.filter(queue=queue, completed_at=None).count()
    assert free + outstanding == 6
    assert stuck_jobs(limit=10) == []
