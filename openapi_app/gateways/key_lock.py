"""One caller at a time for each idempotency key; PostgreSQL decides all the same."""

import random
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

import structlog

from openapi_app.gateways.rate_limit import (
    TAKE,
    WINDOW_MS,
    Bucket,
    Quota,
    quota_of,
)
from openapi_app.gateways.redis import RedisUnavailable, Script

log = structlog.get_logger("openapi_app.key_lock")

# A waiting caller outlasts the lease of one that died, and then goes on.
LEASE_MS = 2_500
PATIENCE_SECONDS = 3.0
PAUSE_SECONDS = (0.01, 0.03)

# Limit and lock in one round trip; over the limit, the lock is left alone.
_ADMIT = Script(
    TAKE
    + """
local quota = take(KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2]))
local held = 0
if quota[1] == 1 and redis.call('SET', KEYS[2], ARGV[3], 'NX', 'PX', ARGV[4]) then
  held = 1
end
return {quota[1], quota[2], quota[3], held}
"""
)
_ACQUIRE = Script(
    "return redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) and 1 or 0"
)
# Only the owner's: a lease that ran out may be somebody else's by now.
_RELEASE = Script(
    """
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0
"""
)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyLock:
    """The lock of one key, as one caller wants it; `digest` stands for the key."""

    subject: str
    digest: str
    owner: str

    @property
    def key(self) -> str:
        """Its key in Redis; one caller's keys share a slot."""
        return f"orbit:open:{{{self.subject}}}:key:{self.digest}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Admission:
    """A counted trigger, and whether it got its lock with the same breath."""

    quota: Quota
    lock: KeyLock
    is_held: bool


def admit(*, bucket: Bucket, digest: str) -> Admission:
    """Count a trigger and reach for the lock of its key; raises RedisUnavailable."""
    lock = KeyLock(subject=bucket.subject, digest=digest, owner=secrets.token_hex(8))
    *taken, held = _ADMIT.run(
        keys=[bucket.key, lock.key],
        arguments=[bucket.limit, WINDOW_MS, lock.owner, LEASE_MS],
    )
    return Admission(quota=quota_of(bucket, taken), lock=lock, is_held=bool(held))


@contextmanager
def holding(admission: Admission) -> Iterator[bool]:
    """Whether the lock was had within about three seconds; it is released at the end.

    Raises RedisUnavailable while waiting. A lock that was lost, or whose release
    fails, changes nothing for what was done under it.
    """
    is_held = admission.is_held or _wait(admission.lock)
    try:
        yield is_held
    finally:
        if is_held:
            with suppress(RedisUnavailable):
                _release(admission.lock)


def _wait(lock: KeyLock) -> bool:
    end = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < end:
        time.sleep(random.uniform(*PAUSE_SECONDS))  # noqa: S311 - spreads the askers
        if _ACQUIRE.run(keys=[lock.key], arguments=[lock.owner, LEASE_MS]):
            return True
    return False


def _release(lock: KeyLock) -> None:
    if not _RELEASE.run(keys=[lock.key], arguments=[lock.owner]):
        log.warning("key lock lost")
