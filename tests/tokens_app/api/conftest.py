"""What the tests of the management API share."""

import pytest
from django.conf import settings
from django.contrib.auth.hashers import get_hashers, get_hashers_by_algorithm
from redis import Redis

from tests.openapi_app.api.builders import a_place


@pytest.fixture(autouse=True)
def _cheap_passwords(monkeypatch):
    """The real hash takes most of a second, by design."""
    cheap = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    monkeypatch.setattr(settings, "PASSWORD_HASHERS", cheap)
    get_hashers.cache_clear()
    get_hashers_by_algorithm.cache_clear()
    yield
    get_hashers.cache_clear()
    get_hashers_by_algorithm.cache_clear()


@pytest.fixture
def place(db):  # noqa: ARG001 - it has to be there
    """One namespace with a queue and a group."""
    return a_place(number=77)


@pytest.fixture
def redis():
    """The suite's Redis, empty."""
    with Redis.from_url(settings.REDIS_URL, decode_responses=True) as client:
        client.flushdb()
        yield client
