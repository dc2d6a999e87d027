"""Executions over RabbitMQ; where it is not installed, said aloud, over Valkey."""

import warnings

import pytest

from openapi_app.gateways import celery as gateway
from openapi_app.gateways.celery import send_execution
from orbit.celery import app
from tests import rabbitmq
from tests.live import eventually
from tests.openapi_app.celery.builders import attempts_of, settled

pytest_plugins = ["tests.openapi_app.celery.fixtures"]

ABSENT = "RABBITMQ IS NOT INSTALLED: this ran against Valkey only."


class Broker:
    """A broker that the test may kill and start again."""

    def __init__(self, server, url):
        self.url = url
        self.kill = server.kill
        self.start = server.start


@pytest.fixture
def rabbit():
    """A RabbitMQ of this test alone, or None where there is none."""
    if not rabbitmq.program():
        yield None
        return
    server = rabbitmq.RabbitServer()
    try:
        server.start()
        yield server
    finally:
        server.remove()


@pytest.fixture
def any_broker(rabbit, request, settings):
    """The RabbitMQ; a Valkey, with a warning, where there is none."""
    if rabbit:
        broker = Broker(rabbit, rabbit.url)
    else:
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            warnings.warn(ABSENT, stacklevel=1)
        server = request.getfixturevalue("own_valkey")
        broker = Broker(server, server.url())
    before = app.conf.broker_url
    options = app.conf.broker_transport_options
    settings.CELERY_BROKER_URL = broker.url
    app.conf.update(broker_url=broker.url, broker_transport_options={})
    gateway._line.hang_up()
    yield broker
    app.conf.update(broker_url=before, broker_transport_options=options)
    gateway._line.hang_up()


def test_executions_run_over_this_broker_and_survive_its_death(
    bench, any_broker, workers
):
    worker = workers(broker_url=any_broker.url)
    job = bench.job()
    first = [bench.accept(job) for _ in range(5)]
    for execution_id in first:
        assert send_execution(execution_id)
    assert {settled(it).state for it in first} == {"SUCCEEDED"}

    any_broker.kill()
    lost = bench.accept(job)
    assert not send_execution(lost)
    any_broker.start()
    assert settled(lost, maintained=True).state == "SUCCEEDED"
    assert [len(attempts_of(it)) for it in [*first, lost]] == [1] * 6

    eventually(lambda: send_execution(lost))
    worker.terminate()
    assert worker.process.popen.wait(timeout=15) == 0
