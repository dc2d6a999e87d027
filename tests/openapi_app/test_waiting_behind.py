"""What a review of a serial job's task would let go on, and what then does."""

import msgspec
import pytest

from openapi_app.subscribers import ExecutionOwner
from tasks_app.domain.commands import ReviewTask
from tasks_app.public import ReportKind
from tasks_app.queries.dossier import dossier_of
from tasks_app.queries.previews import preview_of_review
from tests.builders import OPERATOR
from tests.openapi_app.builders import (
    a_job,
    again,
    finish,
    reach_of,
    review,
    run_now,
    task_of,
)

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("sent"),
]


def a_review(task):
    return ReviewTask(
        expected_revision=str(task.revision),
        reason="looked",
        evidence_ref="evidence:1",
        execution_settled=True,
        outcome="FAILED",
        result=msgspec.Raw(b"1"),
    )


def behind(execution, *, limit=10):
    return ExecutionOwner().waiting_behind(owner_id=execution.id, limit=limit)


def test_the_executions_behind_are_told_in_order_and_the_first_goes_on():
    job = a_job(concurrency_policy="SERIAL")
    first, second, third = (run_now(job) for _ in range(3))

    told = behind(first)

    assert [(it.owner_id, it.goes_on) for it in told] == [
        (second.id, True),
        (third.id, False),
    ]
    assert {(it.job_id, it.job_name) for it in told} == {(job.id, job.name)}
    assert [it.goes_on for it in behind(second)] == [False]
    assert len(behind(first, limit=1)) == 1


def test_nothing_waits_for_an_execution_of_a_parallel_job():
    job = a_job(concurrency_policy="PARALLEL")
    first, _ = run_now(job), run_now(job)

    assert behind(first) == []


def test_the_preview_names_the_execution_that_then_goes_on():
    job = a_job(concurrency_policy="SERIAL")
    first, second = run_now(job), run_now(job)
    finish(first, ReportKind.UNKNOWN)
    task = task_of(first)
    reach = reach_of(task)

    preview = preview_of_review(
        a_review(task), task_id=task.id, actor=OPERATOR, reach=reach
    )
    dossier = dossier_of(reach, task.id)

    assert preview.foretold is not None
    assert [it.owner_id for it in preview.foretold.moves_on] == [second.id]
    assert [it.owner_id for it in dossier.waiting] == [second.id]
    assert again(second).is_waiting_turn
    review(first)
    assert not again(second).is_waiting_turn


def test_a_newcomer_behind_does_not_change_the_digest():
    job = a_job(concurrency_policy="SERIAL")
    first = run_now(job)
    finish(first, ReportKind.UNKNOWN)
    task = task_of(first)
    reach = reach_of(task)
    before = dossier_of(reach, task.id).grounds.digest

    run_now(job)

    assert dossier_of(reach, task.id).grounds.digest == before
