"""Calls a minute, counted by Redis in one step and on its clock."""

from dataclasses import dataclass

import structlog

from openapi_app.gateways.redis import RedisUnavailable, Script, outage

log = structlog.get_logger("openapi_app.rate_limit")

WINDOW_MS = 60_000

# A window opens with its first call; a refused call is not counted.
TAKE = """
local function take(bucket, limit, window)
  local used = tonumber(redis.call('GET', bucket) or '0')
  local left = redis.call('PTTL', bucket)
  if used >= limit and left ~= -1 then return {0, 0, math.max(left, 1)} end
  used = redis.call('INCR', bucket)
  if left < 0 then
    redis.call('PEXPIRE', bucket, window)
    left = window
  end
  return {1, math.max(limit - used, 0), left}
end
"""
_TAKE = Script(TAKE + "return take(KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2]))")
_LOOK = Script(
    """
local used = tonumber(redis.call('GET', KEYS[1]) or '0')
local limit = tonumber(ARGV[1])
local left = math.max(redis.call('PTTL', KEYS[1]), 0)
return {used < limit and 1 or 0, math.max(limit - used, 0), left}
"""
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bucket:
    """What is counted together: `name` for one `subject`, `limit` calls a minute."""

    name: str
    subject: str
    limit: int

    @property
    def key(self) -> str:
        """Its key in Redis; one caller's keys share a slot."""
        return f"orbit:open:{{{self.subject}}}:{self.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Quota:
    """A bucket after a call: whether that was within it, and what is left."""

    bucket: Bucket
    is_kept: bool
    remaining: int
    reset_ms: int

    @property
    def reset_seconds(self) -> int:
        """Whole seconds after which the whole quota is there again."""
        return -(-self.reset_ms // 1000)


def take(bucket: Bucket) -> Quota:
    """Count one call; raises RedisUnavailable."""
    answer = _TAKE.run(keys=[bucket.key], arguments=[bucket.limit, WINDOW_MS])
    return quota_of(bucket, answer)


def take_if_possible(bucket: Bucket) -> Quota | None:
    """Count one call that may also go uncounted; None while Redis is out of order."""
    if outage.is_fresh():
        return None
    try:
        return take(bucket)
    except RedisUnavailable:
        return None


def look_if_possible(bucket: Bucket) -> Quota | None:
    """The bucket as it is, uncounted; None while Redis is out of order."""
    if outage.is_fresh():
        return None
    try:
        return quota_of(bucket, _LOOK.run(keys=[bucket.key], arguments=[bucket.limit]))
    except RedisUnavailable:
        return None


def quota_of(bucket: Bucket, answer: list[int]) -> Quota:
    """What the script's `take` answered."""
    is_kept, remaining, reset_ms = answer
    return Quota(
        bucket=bucket,
        is_kept=bool(is_kept),
        remaining=remaining,
        reset_ms=reset_ms,
    )
