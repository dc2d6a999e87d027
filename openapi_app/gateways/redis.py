"""The one way to Redis: bounded in every direction, and nothing is tried twice."""

import hashlib
import time
from collections.abc import Sequence
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit

import redis
import structlog
from django.apps import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage
from django.core.checks import Warning as Caution
from redis.backoff import NoBackoff
from redis.exceptions import NoScriptError
from redis.retry import Retry

from openapi_app.domain.refusals import TriggerUnavailable

log = structlog.get_logger("openapi_app.redis")

# Connecting and each answer: a trigger fails closed within about a second.
TIMEOUT_SECONDS = 0.5
# After a failure those who can do without Redis leave it alone for as long.
REST_SECONDS = 1.0

FAILURES = (redis.RedisError, OSError)


class RedisUnavailable(TriggerUnavailable):
    """Redis is unreachable, silent, read-only, loading or full: no trigger goes on."""


class Script:
    """A Lua script: one round trip, sent whole only where the server has lost it."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._digest = hashlib.sha1(text.encode()).hexdigest()  # noqa: S324 - Redis' name for it

    def run(self, *, keys: Sequence[str], arguments: Sequence[str | int]) -> Any:  # noqa: ANN401 - what the script answers
        """The script's answer; raises RedisUnavailable."""
        try:
            answer = self._run(len(keys), *keys, *map(str, arguments))
        except FAILURES as failure:
            outage.begin(failure)
            raise RedisUnavailable from failure
        outage.end()
        return answer

    def _run(self, key_count: int, *asked: str) -> Any:  # noqa: ANN401
        try:
            return client().evalsha(self._digest, key_count, *asked)
        except NoScriptError:
            return client().eval(self._text, key_count, *asked)


class Outage:
    """Whether Redis failed a moment ago in this process; logged once, not per call."""

    def __init__(self) -> None:
        self._failed_at: float | None = None

    def begin(self, failure: Exception) -> None:
        """Note a failure."""
        if self._failed_at is None:
            log.error("redis unavailable", fault=type(failure).__name__)
        self._failed_at = time.monotonic()

    def end(self) -> None:
        """Note that Redis answered."""
        if self._failed_at is not None:
            log.warning("redis answers again")
            self._failed_at = None

    def is_fresh(self) -> bool:
        """Whether the last failure is so recent that asking again is a waste."""
        failed_at = self._failed_at
        return failed_at is not None and time.monotonic() - failed_at < REST_SECONDS


outage = Outage()


def client() -> redis.Redis:
    """This process' client; raises redis.ConnectionError where none is configured."""
    url: str = settings.REDIS_URL
    if not url:
        raise redis.ConnectionError("REDIS_URL is not set.")
    return _client(url)


@lru_cache(maxsize=4)
def _client(url: str) -> redis.Redis:
    return redis.Redis.from_url(
        url,
        driver_info=None,  # one exchange less for each connection
        protocol=2,
        retry=Retry(NoBackoff(), 0),
        retry_on_error=[],
        retry_on_timeout=False,
        socket_connect_timeout=TIMEOUT_SECONDS,
        socket_keepalive=urlsplit(url).scheme != "unix",
        socket_timeout=TIMEOUT_SECONDS,
    )


def check_eviction_policy(
    app_configs: Sequence[AppConfig] | None,  # noqa: ARG001 - the signature of a check
    **_: object,
) -> list[CheckMessage]:
    """A warning where Redis may drop a lock or a count that is still needed."""
    if not settings.REDIS_URL:
        hint = "Set REDIS_URL; without it every trigger is refused."
        return [Caution("There is no Redis.", hint=hint, id="openapi_app.W001")]
    policy = eviction_policy()
    if policy in {None, "noeviction"}:
        return []
    hint = "Set maxmemory-policy to noeviction: locks and counts must not be dropped."
    message = f"Redis evicts keys ({policy})."
    return [Caution(message, hint=hint, id="openapi_app.W002")]


def eviction_policy() -> str | None:
    """What Redis does when it is full; None when it does not say."""
    try:
        memory: Any = client().info("memory")
    except FAILURES:
        return None
    return str(memory.get("maxmemory_policy") or "") or None
