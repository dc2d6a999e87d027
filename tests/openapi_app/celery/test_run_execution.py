"""An execution from its message to its end, with a real worker and a real broker."""

import json
from datetime import timedelta

import pytest
from django.conf import settings
from django.db import connection, transaction

import tests.openapi_app.celery.handlers  # noqa: F401 - a web process knows them too
from openapi_app import subscribers
from openapi_app.gateways.celery import RUN_EXECUTION, send_execution
from openapi_app.workers import resend_lost, resend_lost_probes
from orbit.ids import new_id
from tasks_app.actions.start_probe import start_probe
from tasks_app.domain.access import Reach
from tasks_app.domain.errors import StateConflict
from tasks_app.models import Evidence
from tests.builders import OPERATOR, an_identity, pass_time
from tests.live import eventually
from tests.openapi_app.celery.builders import (
    attempts_of,
    maintain,
    messages_in,
    settled,
    task_of,
)

pytest_plugins = ["tests.openapi_app.celery.fixtures"]

pytestmark = [
    pytest.mark.usefixtures("shared_worker"),
    pytest.mark.xdist_group("shared_worker"),
]


def test_an_accepted_execution_succeeds(bench):
    execution_id = bench.start()
    task = settled(execution_id)
    assert task.state == "SUCCEEDED"
    assert json.loads(task.result) == {"attempt": 1}
    assert bench.lines() == [f"begin {execution_id.hex} 1", f"end {execution_id.hex} 1"]


def test_many_executions_run_once_each(bench):
    job = bench.job()
    started = [bench.accept(job) for _ in range(30)]
    for execution_id in started:
        assert send_execution(execution_id)
    assert {settled(it).state for it in started} == {"SUCCEEDED"}
    ends = [line for line in bench.lines() if line.startswith("end")]
    assert sorted(ends) == sorted(f"end {it.hex} 1" for it in started)


def test_a_message_for_nothing_does_no_harm(bench):
    assert send_execution(new_id())
    assert settled(bench.start()).state == "SUCCEEDED"


def test_a_handler_that_raises_fails_and_says_why(bench, shared_worker):
    execution_id = bench.start("test.raises", parameters={"secret": "hunter2hunter2"})
    task = settled(execution_id)
    assert (task.state, task.error_code) == ("FAILED", "ValueError")
    assert task.error_message.startswith("cannot go on with hunter2hunter2 (handlers.")
    assert bench.lines() == ["raising"]
    assert "hunter2hunter2" not in shared_worker.text()
    assert "test.raises" not in shared_worker.text()


def test_a_handler_that_may_be_replayed_is_tried_again_after_an_error(bench):
    execution_id = bench.start(
        "test.raises", recovery_safety="REPLAY_SAFE", max_attempts=3
    )
    assert settled(execution_id).state == "FAILED"
    assert bench.lines() == ["raising"] * 3


def test_a_retryable_error_is_tried_again_when_it_is_due(bench):
    execution_id = bench.start(
        "test.fails_once", max_attempts=2, initial_delay_ms=300, max_delay_ms=300
    )
    assert settled(execution_id, maintained=True).state == "SUCCEEDED"
    assert bench.lines() == ["attempt 1", "attempt 2"]


def test_a_handler_that_does_not_know_needs_review(bench):
    task = settled(bench.start("test.unsure", max_attempts=3))
    assert (task.state, task.error_code) == ("NEEDS_REVIEW", "OutcomeUnknown")


def probe_of(bench, execution_id):
    """A probe of the execution's task, which an operator started."""
    return start_probe(
        task_id=task_of(execution_id).id,
        identity=an_identity(),
        actor=OPERATOR,
        reach=Reach(namespace_id=bench.namespace_id, queue_ids=None),
    ).task


def test_a_probe_is_run_by_the_workers_of_its_handler(bench):
    execution_id = bench.start("test.unsure")
    task = settled(execution_id)

    probe_of(bench, execution_id)

    evidence = eventually(Evidence.objects.filter(task_id=task.id).first)
    found = json.loads(evidence.content)
    assert (found["effect"], found["proposed_outcome"]) == ("NOT_APPLIED", "FAILED")
    assert found["details"]["asked"] == json.loads(task.payload)
    assert bench.lines() == [f"looked {execution_id.hex}"]
    assert task_of(execution_id).state == "NEEDS_REVIEW"


def test_a_probe_whose_message_was_lost_is_sent_again(bench, monkeypatch):
    execution_id = bench.start("test.unsure")
    task = settled(execution_id)
    with monkeypatch.context() as patch:
        patch.setattr(subscribers, "send_probe", lambda _id: False)
        probe = probe_of(bench, execution_id)
    assert resend_lost_probes(limit=10) == 0, "its message may still be on its way"
    pass_time(probe.id, by=timedelta(minutes=1))

    assert resend_lost_probes(limit=10) == 1
    assert resend_lost_probes(limit=10) == 0, "not at every pass until it is taken"

    assert eventually(Evidence.objects.filter(task_id=task.id).first)


def test_a_handler_without_a_probe_is_not_probed(bench):
    execution_id = bench.start("test.traced", parameters={"sleep_ms": 60_000})
    eventually(bench.lines)
    with connection.cursor() as cursor:
        cursor.execute("UPDATE tasks_attempt SET lease_expires_at = clock_timestamp()")
    assert settled(execution_id, maintained=True).state == "NEEDS_REVIEW"

    with pytest.raises(StateConflict) as refused:
        probe_of(bench, execution_id)

    assert refused.value.details["reason"] == "NO_PROBE"
    assert "review the task" in refused.value.message


def test_a_result_that_is_too_large_fails(bench):
    task = settled(bench.start("test.large"))
    assert (task.state, task.error_code) == ("FAILED", "RESULT_TOO_LARGE")


def test_a_result_that_is_not_json_fails(bench):
    task = settled(bench.start("test.not_json"))
    assert (task.state, task.error_code) == ("FAILED", "RESULT_NOT_JSON")


def test_an_unknown_handler_fails(bench):
    task = settled(bench.start("test.nobody_wrote_it"))
    assert (task.state, task.error_code) == ("FAILED", "HANDLER_UNKNOWN")


def test_parameters_that_do_not_fit_fail_before_the_handler_runs(bench):
    task = settled(bench.start(parameters={"colour": "red"}))
    assert (task.state, task.error_code) == ("FAILED", "PARAMETERS_INVALID")
    assert bench.lines() == []


def test_heartbeats_keep_a_handler_alive_that_runs_longer_than_its_lease(bench):
    execution_id = bench.start(parameters={"sleep_ms": 3_000})
    assert settled(execution_id, maintained=True).state == "SUCCEEDED"
    assert len(attempts_of(execution_id)) == 1


def test_a_handler_past_its_time_is_stopped_and_needs_review(bench):
    execution_id = bench.start(
        attempt_timeout_ms=1_000, max_attempts=3, parameters={"sleep_ms": 20_000}
    )
    task = settled(execution_id)
    assert (task.state, task.error_code) == ("NEEDS_REVIEW", "HANDLER_STOPPED")
    assert bench.lines() == [f"begin {execution_id.hex} 1"]


def test_a_replayable_handler_past_its_time_runs_again_while_it_may(bench):
    execution_id = bench.start(
        attempt_timeout_ms=800,
        max_attempts=2,
        recovery_safety="REPLAY_SAFE",
        parameters={"sleep_ms": 20_000},
    )
    assert settled(execution_id).state == "NEEDS_REVIEW"
    assert bench.lines() == [f"begin {execution_id.hex} {n}" for n in (1, 2)]


def test_a_rolled_back_execution_sends_nothing(bench):
    job = bench.job()

    def refused():
        with transaction.atomic():
            transaction.on_commit(lambda: send_execution(job.id))
            raise RuntimeError("no")

    with pytest.raises(RuntimeError, match="no"):
        refused()
    assert messages_in(settings.CELERY_BROKER_URL) == []


def test_what_is_not_taken_is_sent_again_less_and_less_often(bench):
    execution_id = bench.accept(bench.job())
    assert resend_lost(limit=10) == 0  # accepted just now
    eventually(lambda: resend_lost(limit=10) == 1)
    assert resend_lost(limit=10) == 0
    assert settled(execution_id).state == "SUCCEEDED"


def test_maintenance_sends_what_was_never_sent(bench):
    execution_id = bench.accept(bench.job())
    assert settled(execution_id, maintained=True).state == "SUCCEEDED"
    maintain()
    assert task_of(execution_id).attempt_count == 1


def test_the_message_carries_the_id_and_nothing_else(bench, broker):
    execution_id = bench.start(parameters={"secret": "hunter2hunter2"})
    (message,) = messages_in(broker.url())
    headers = message["headers"]
    assert headers["task"] == RUN_EXECUTION
    assert headers["id"] == execution_id.hex
    assert "hunter2" not in json.dumps(message)
    assert "test.traced" not in json.dumps(message)
    assert headers["kwargsrepr"] == "{}"
    assert headers["argsrepr"] == f"('{execution_id.hex}',)"
