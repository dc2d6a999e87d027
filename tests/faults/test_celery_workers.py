"""Celery workers that are killed, asked to end, or given the same message thrice."""

import functools
import json
import signal
from concurrent.futures import ThreadPoolExecutor

import psutil
import pytest
from django.conf import settings
from django.db import connection
from redis import Redis

from openapi_app.gateways.celery import send_execution
from openapi_app.models import JobExecution
from tests.live import eventually
from tests.openapi_app.celery.builders import (
    attempts_of,
    committed,
    messages_in,
    settled,
    task_of,
)

pytest_plugins = ["tests.openapi_app.celery.fixtures"]

POOLS = [("--pool", "solo"), ("--pool", "prefork", "--concurrency", "1")]
pools = pytest.mark.parametrize("pool", POOLS, ids=["solo", "prefork"])


def begun(bench, count=1):
    """Wait until a handler has left its first trace."""
    eventually(lambda: sum("begin" in it for it in bench.lines()) >= count)


def kill_who_runs(worker):
    """SIGKILL to the process that runs the handler, and in a pool to no other."""
    *_, runner = worker.family()
    runner.send_signal(signal.SIGKILL)


@pools
def test_a_worker_killed_in_a_replayable_handler_runs_it_again(bench, workers, pool):
    worker = workers(*pool)
    execution_id = bench.start(
        recovery_safety="REPLAY_SAFE", max_attempts=2, parameters={"sleep_ms": 3_000}
    )
    begun(bench)
    kill_who_runs(worker)
    if pool == POOLS[0]:
        workers()
    assert settled(execution_id, maintained=True).state == "SUCCEEDED"
    assert [it.outcome for it in attempts_of(execution_id)] == ["UNKNOWN", "SUCCEEDED"]
    assert [line.split()[0] for line in bench.lines()] == ["begin", "begin", "end"]


@pools
def test_a_worker_killed_in_any_other_handler_leaves_a_review(bench, workers, pool):
    worker = workers(*pool)
    execution_id = bench.start(max_attempts=5, parameters={"sleep_ms": 30_000})
    begun(bench)
    kill_who_runs(worker)
    task = settled(execution_id, maintained=True)
    assert (task.state, task.effect_uncertain) == ("NEEDS_REVIEW", True)
    assert task.error_code == "LEASE_LOST"
    assert len(bench.lines()) == 1


def test_a_handler_that_kills_its_process_each_time_does_not_loop(bench, workers):
    workers("--pool", "prefork", "--concurrency", "1")
    execution_id = bench.start(
        "test.dies", recovery_safety="REPLAY_SAFE", max_attempts=2
    )
    assert settled(execution_id, maintained=True).state == "SUCCEEDED"
    assert bench.lines() == ["attempt 1", "attempt 2"]


def test_one_message_delivered_three_times_at_once_makes_one_attempt(bench, workers):
    for _ in range(3):
        workers()
    job = bench.job(parameters={"sleep_ms": 500})
    executions = [bench.accept(job) for _ in range(5)]
    for execution_id in executions:
        with ThreadPoolExecutor(3) as pool:
            assert all(pool.map(send_execution, [execution_id] * 3))
    for execution_id in executions:
        assert settled(execution_id).state == "SUCCEEDED"
    eventually(lambda: messages_in(settings.CELERY_BROKER_URL) == [])
    assert [len(attempts_of(it)) for it in executions] == [1] * 5
    assert sorted(bench.lines()) == sorted(
        f"{word} {it.hex} 1" for it in executions for word in ("begin", "end")
    )


def test_a_worker_that_is_quicker_than_the_commit_finds_the_execution(bench, workers):
    worker = workers()
    job = bench.job()
    for _ in range(20):
        execution_id = bench.accept(job)
        with committed():
            connection.cursor().execute("SELECT pg_sleep(0.01)")
            JobExecution.objects.filter(id=execution_id).update(started_by="ada")
            connection.on_commit(functools.partial(send_execution, execution_id))
        assert settled(execution_id).state == "SUCCEEDED"
    assert "ERROR" not in worker.text()


@pools
def test_a_worker_that_is_asked_to_end_lets_a_short_handler_finish(
    bench, workers, pool
):
    worker = workers(*pool)
    execution_id = bench.start(parameters={"sleep_ms": 1_500})
    begun(bench)
    worker.terminate()
    assert settled(execution_id).state == "SUCCEEDED"
    assert worker.process.popen.wait(timeout=10) == 0
    assert len(attempts_of(execution_id)) == 1


@pools
def test_a_worker_that_is_asked_to_end_hands_back_what_takes_too_long(
    bench, workers, pool
):
    worker = workers(*pool, ORBIT_WORKER_FINISH_MS="300")
    replayable = bench.start(
        "test.polite",
        recovery_safety="REPLAY_SAFE",
        max_attempts=2,
        initial_delay_ms=60_000,
        max_delay_ms=60_000,
        parameters={"sleep_ms": 60_000},
    )
    begun(bench)
    worker.terminate()
    assert worker.process.popen.wait(timeout=10) == 0
    task = task_of(replayable)
    assert (task.state, task.last_outcome) == ("WAITING", "FAILED")
    assert task.error_code == "HANDLER_STOPPED"


@pools
def test_a_deaf_handler_is_stopped_when_the_worker_must_end(bench, workers, pool):
    worker = workers(*pool, ORBIT_WORKER_FINISH_MS="300")
    execution_id = bench.start(parameters={"sleep_ms": 60_000})
    begun(bench)
    worker.terminate()
    assert worker.process.popen.wait(timeout=10) == 0
    assert task_of(execution_id).state == "NEEDS_REVIEW"


def test_a_cancel_reaches_a_handler_that_looks(bench, workers):
    workers()
    execution_id = bench.start("test.polite", parameters={"sleep_ms": 60_000})
    begun(bench)
    task = task_of(execution_id)
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE tasks_task SET cancel_requested_at = now() WHERE id = %s", [task.id]
        )
    assert settled(execution_id).state == "CANCELLED"


def test_a_worker_frozen_past_its_lease_cannot_report(bench, workers):
    worker = workers()
    execution_id = bench.start(parameters={"sleep_ms": 1_500})
    begun(bench)
    for process in worker.family():
        process.suspend()
    assert settled(execution_id, maintained=True).state == "NEEDS_REVIEW"
    for process in worker.family():
        process.resume()
    eventually(lambda: "LEASE" in worker.text() or "CONFLICT" in worker.text())
    assert task_of(execution_id).state == "NEEDS_REVIEW"
    assert psutil.pid_exists(worker.pid)


def test_a_message_of_a_dead_worker_is_not_run_a_second_time(bench, workers):
    execution_id = bench.accept(bench.job())
    assert send_execution(execution_id)
    (message,) = messages_in(settings.CELERY_BROKER_URL)
    workers()
    assert settled(execution_id).state == "SUCCEEDED"
    with Redis.from_url(settings.CELERY_BROKER_URL) as client:
        client.lpush("orbit", json.dumps(message))
    eventually(lambda: messages_in(settings.CELERY_BROKER_URL) == [])
    assert settled(bench.start()).state == "SUCCEEDED"
    assert len(attempts_of(execution_id)) == 1
