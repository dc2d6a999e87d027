"""A broker that is down, deaf or slow, exactly when an execution was committed."""

import time

import pytest
from redis import Redis

from openapi_app.gateways.celery import send_execution
from openapi_app.workers import resend_lost
from tests.openapi_app.celery.builders import attempts_of, settled, task_of

pytest_plugins = ["tests.openapi_app.celery.fixtures"]


def sent_within(execution_id, seconds):
    """What send_execution answers, which must be in time."""
    began = time.monotonic()
    answer = send_execution(execution_id)
    assert time.monotonic() - began < seconds
    return answer


def test_a_broker_that_is_down_after_the_commit_gets_the_execution_later(
    bench, broker, workers
):
    workers()
    broker.kill()
    execution_id = bench.accept(bench.job())
    assert not sent_within(execution_id, 1)
    assert resend_lost(limit=10) == 0
    assert task_of(execution_id).state == "WAITING"
    broker.start()
    task = settled(execution_id, maintained=True)
    assert task.state == "SUCCEEDED"
    assert len(attempts_of(execution_id)) == 1


def test_a_deaf_broker_is_given_up_in_a_second_and_used_again_later(bench, broker):
    job = bench.job()
    assert send_execution(bench.accept(job))
    broker.freeze()
    try:
        assert [sent_within(bench.accept(job), 1) for _ in range(3)] == [False] * 3
    finally:
        broker.thaw()
    assert sent_within(bench.accept(job), 1)


def test_a_broker_that_came_back_is_used_at_once(bench, broker):
    job = bench.job()
    assert send_execution(bench.accept(job))
    broker.kill()
    assert not sent_within(bench.accept(job), 1)
    broker.start()
    assert sent_within(bench.accept(job), 1)


@pytest.mark.parametrize(
    "trouble", [("CONFIG", "SET", "maxmemory", "1"), ("REPLICAOF", "127.0.0.1", "1")]
)
def test_a_broker_that_takes_no_writes_is_no_error(bench, broker, trouble):
    job = bench.job()
    assert send_execution(bench.accept(job))
    with Redis.from_url(broker.url()) as client:
        client.execute_command(*trouble)
    assert not sent_within(bench.accept(job), 1)
