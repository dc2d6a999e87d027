import json
import os
import socket
from contextlib import closing

import pytest
from django.db import connection
from django.test import Client

from orbit.http import health

pytestmark = pytest.mark.urls("tests.orbit.http.urls")


@pytest.fixture(autouse=True)
def _fresh(monkeypatch):
    monkeypatch.setattr(health, "readiness", health.Readiness())


@pytest.fixture
def silent():
    """The port of a server that takes connections and never says a word."""
    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        yield listener.getsockname()[1]


def get(path):
    response = Client().get(path)
    return response.status_code, json.loads(response.content)


def lose_the_database(monkeypatch, port):
    monkeypatch.setitem(connection.settings_dict, "HOST", "127.0.0.1")
    monkeypatch.setitem(connection.settings_dict, "PORT", str(port))


def test_alive_needs_nothing(monkeypatch):
    lose_the_database(monkeypatch, 1)
    assert get("/livez") == (200, {"status": "ok"})


@pytest.mark.django_db
def test_ready_when_all_servers_answer(settings):
    settings.REDIS_URL = os.environ["REDIS_URL"]
    ready = {"status": "ok", "checks": {"database": "ok", "redis": "ok"}}
    assert get("/readyz") == (200, ready)


@pytest.mark.django_db
def test_ready_but_degraded_without_redis(settings, silent):
    settings.REDIS_URL = f"redis://:hunter2@127.0.0.1:{silent}/0"
    degraded = {
        "status": "degraded",
        "checks": {"database": "ok", "redis": "unavailable"},
    }
    assert get("/readyz") == (200, degraded)


@pytest.mark.django_db
def test_not_ready_without_the_database(monkeypatch, settings):
    settings.REDIS_URL = ""
    lose_the_database(monkeypatch, 1)
    unavailable = {"status": "unavailable", "checks": {"database": "unavailable"}}
    assert get("/readyz") == (503, unavailable)


@pytest.mark.django_db
def test_a_database_that_hangs_is_not_waited_for(monkeypatch, settings, silent):
    settings.REDIS_URL = ""
    lose_the_database(monkeypatch, silent)
    assert get("/readyz")[0] == 503


@pytest.mark.django_db
def test_a_crowd_of_probes_is_one_look_at_the_servers(monkeypatch, settings):
    settings.REDIS_URL = ""
    monkeypatch.setattr(health, "FRESH_SECONDS", 3600)
    assert get("/readyz")[0] == 200
    lose_the_database(monkeypatch, 1)
    assert get("/readyz")[0] == 200
