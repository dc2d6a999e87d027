"""Probes: is the process alive, and can it serve."""

import threading
import time

import psycopg
import redis
from django.conf import settings
from django.db import connection
from django.http import HttpRequest, HttpResponse
from redis.backoff import NoBackoff
from redis.retry import Retry

from orbit.http.exact_json import MEDIA_TYPE, encode

WAIT_SECONDS = 2
# Probes are open to anyone: one look a second is all that the servers see of them.
FRESH_SECONDS = 1.0


def livez(_request: HttpRequest) -> HttpResponse:
    """200 as long as the process answers at all."""
    return HttpResponse(encode({"status": "ok"}), content_type=MEDIA_TYPE)


def readyz(_request: HttpRequest) -> HttpResponse:
    """200 when the database answers, else 503.

    A Redis that does not answer makes it "degraded", still 200: /v1 goes on without.
    """
    checks = readiness.look()
    if checks["database"] != "ok":
        return _answer("unavailable", checks, 503)
    status = "ok" if set(checks.values()) == {"ok"} else "degraded"
    return _answer(status, checks, 200)


def _answer(status: str, checks: dict[str, str], code: int) -> HttpResponse:
    body = encode({"status": status, "checks": checks})
    response = HttpResponse(body, content_type=MEDIA_TYPE, status=code)
    response.headers["Cache-Control"] = "no-store"
    return response


class Readiness:
    """The last look at the servers; a new one only when it is a second old."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._looked_at = float("-inf")
        self._checks: dict[str, str] = {}

    def look(self) -> dict[str, str]:
        """The state of each server, "ok" or "unavailable", within bounded time."""
        with self._lock:
            if time.monotonic() - self._looked_at > FRESH_SECONDS:
                self._checks = _checks()
                self._looked_at = time.monotonic()
            return self._checks


readiness = Readiness()


def _checks() -> dict[str, str]:
    checks = {"database": _database()}
    url = getattr(settings, "REDIS_URL", "")
    return {**checks, "redis": _redis(url)} if url else checks


def _database() -> str:
    # A connection of its own: the handshake alone proves that the server works, and
    # unlike a query on a pooled one it cannot wait for a stopped server.
    parameters = connection.get_connection_params()
    parameters["connect_timeout"] = WAIT_SECONDS
    try:
        psycopg.connect(**parameters).close()
    except psycopg.Error:
        return "unavailable"
    return "ok"


def _redis(url: str) -> str:
    client = redis.Redis.from_url(
        url,
        retry=Retry(NoBackoff(), 0),
        socket_connect_timeout=WAIT_SECONDS,
        socket_timeout=WAIT_SECONDS,
    )
    try:
        client.ping()
    except (redis.RedisError, OSError):
        return "unavailable"
    finally:
        client.close()
    return "ok"
