"""Celery workers on real brokers for the tests of executions."""

import pytest
from django.conf import settings
from redis import Redis

from openapi_app.gateways import celery as gateway
from orbit.celery import app
from tests.openapi_app.celery.builders import Worker, a_bench


@pytest.fixture
def bench(transactional_db, tmp_path):  # noqa: ARG001 - rows are for all to see
    """A queue with a short lease and no message in the broker."""
    with Redis.from_url(settings.CELERY_BROKER_URL) as client:
        client.delete("orbit")
    return a_bench(tmp_path / "traces")


@pytest.fixture
def workers(tmp_path):
    """Starts workers; all of them end with the test."""
    started: list[Worker] = []

    def start(*arguments, broker_url=None, **variables):
        worker = Worker(
            log=tmp_path / f"worker-{len(started)}.log",
            broker_url=broker_url or app.conf.broker_url,
            arguments=arguments or ("--pool", "solo"),
            variables=variables,
        )
        started.append(worker)
        return worker.start()

    yield start
    for worker in started:
        worker.stop()


@pytest.fixture(scope="module")
def shared_worker(django_db_setup, tmp_path_factory):  # noqa: ARG001 - needs it
    """One worker for a module's tests that let it live; others want theirs alone."""
    worker = Worker(
        log=tmp_path_factory.mktemp("worker") / "worker.log",
        broker_url=settings.CELERY_BROKER_URL,
    )
    yield worker.start()
    worker.stop()


@pytest.fixture
def broker(own_valkey):
    """A broker of this test alone, which this process publishes to as well."""
    before = app.conf.broker_url
    app.conf.update(broker_url=own_valkey.url())
    gateway._line.hang_up()
    yield own_valkey
    app.conf.update(broker_url=before)
    gateway._line.hang_up()
