"""A place of its own for each test, and an empty Redis."""

import pytest
from django.conf import settings
from redis import Redis

from tests.openapi_app.api.builders import a_place


@pytest.fixture
def redis():
    """The suite's Redis, empty."""
    with Redis.from_url(settings.REDIS_URL, decode_responses=True) as client:
        client.flushdb()
        yield client


@pytest.fixture
def place(transactional_db, redis):  # noqa: ARG001 - both have to be there
    """One namespace with a queue and a group."""
    return a_place()
