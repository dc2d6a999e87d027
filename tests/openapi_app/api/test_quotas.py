"""Quotas on Redis' clock, and what does not touch them."""

import re
import time

import pytest

from openapi_app.gateways import rate_limit
from openapi_app.gateways.rate_limit import Bucket, take
from tests.openapi_app.api.builders import Caller, at_once, rows

RATE_LIMIT = re.compile(r'"(\w+)";r=(\d+);t=(\d+)')


def quota_of(answer):
    """What the RateLimit header says: bucket, remaining, reset."""
    name, remaining, reset = RATE_LIMIT.fullmatch(answer.headers["RateLimit"]).groups()
    return name, int(remaining), int(reset)


def test_of_100_parallel_triggers_exactly_the_quota_passes(place):
    job = place.job()
    caller = place.caller(job, triggers_per_minute=10)

    answers = at_once(100, lambda it: caller.trigger(job, f"parallel-{it:03}"))

    assert sum(answer.status == 202 for answer in answers) == 10
    assert sum(answer.message == "rate_limited" for answer in answers) == 90
    assert rows() == (10, 10, 10)


def test_of_100_parallel_reads_exactly_the_quota_passes(place):
    caller = place.caller(reads_per_minute=10)

    answers = at_once(100, lambda _: caller.get("/token"))

    assert sum(answer.status == 200 for answer in answers) == 10


def test_reads_and_triggers_are_counted_apart(place):
    job = place.job()
    caller = place.caller(job, reads_per_minute=1, triggers_per_minute=1)

    assert quota_of(caller.get("/token"))[:2] == ("reads", 0)
    assert quota_of(caller.trigger(job))[:2] == ("triggers", 0)
    assert caller.get("/token").message == "rate_limited"
    refused = caller.trigger(job)
    assert (refused.status, refused.message) == (429, "rate_limited")
    assert refused.execution_started is False
    assert quota_of(refused)[:2] == ("triggers", 0)
    assert refused.headers["RateLimit-Policy"] == '"triggers";q=1;w=60'


def test_waiting_as_long_as_told_works(place, monkeypatch):
    monkeypatch.setattr(rate_limit, "WINDOW_MS", 1_500)
    caller = place.caller(reads_per_minute=2)
    for _ in range(2):
        caller.get("/token")
    refused = caller.get("/token")
    seconds = int(refused.headers["Retry-After"])
    assert 1 <= seconds <= 2
    assert refused.body["retry"] == {
        "safe": True,
        "same_key": True,
        "after_seconds": seconds,
    }

    time.sleep(seconds)

    assert caller.get("/token").status == 200


def test_a_refused_call_does_not_lengthen_the_wait(redis):  # noqa: ARG001
    bucket = Bucket(name="reads", subject="somebody", limit=1)
    take(bucket)
    waits = [take(bucket).reset_ms for _ in range(5)]

    assert waits == sorted(waits, reverse=True)


def test_a_bucket_ends_by_itself(redis):
    bucket = Bucket(name="reads", subject="somebody", limit=1)
    take(bucket)

    assert 0 < redis.pttl(bucket.key) <= 60_000


def test_1000_failures_with_its_key_id_leave_a_token_its_quota(place, settings):
    settings.OPEN_JOBS_FAILURES_PER_MINUTE = 50
    job = place.job()
    token = place.token(job, reads_per_minute=5, triggers_per_minute=5).plaintext
    attacker = Caller(token[:-6] + "AAAAAA", address="198.51.100.9")

    told = [attacker.trigger(job).status for _ in range(1000)]

    assert set(told) == {401, 429}
    victim = Caller(token, address="198.51.100.9")
    assert quota_of(victim.trigger(job))[1] == 4
    assert quota_of(victim.get("/token"))[1] == 4


def test_failures_are_limited_by_address(place, settings):  # noqa: ARG001
    settings.OPEN_JOBS_FAILURES_PER_MINUTE = 1
    here, there = Caller("x", address="192.0.2.7"), Caller("x", address="192.0.2.8")

    assert here.get("/token").status == 401
    limited = here.get("/token")
    assert (limited.status, limited.message) == (429, "rate_limited")
    assert 1 <= int(limited.headers["Retry-After"]) <= 60
    assert there.get("/token").status == 401


def test_a_missing_token_is_no_failed_attempt(place, settings):  # noqa: ARG001
    settings.OPEN_JOBS_FAILURES_PER_MINUTE = 1

    assert [Caller().get("/token").status for _ in range(3)] == [401] * 3


@pytest.mark.parametrize(
    ("changes", "reads", "triggers"),
    [
        ({"reads_per_minute": None, "triggers_per_minute": None}, 120, 20),
        ({"reads_per_minute": 7, "triggers_per_minute": 3}, 7, 3),
    ],
)
def test_a_token_has_the_default_quota_or_its_own(place, changes, reads, triggers):
    quota = place.caller(**changes).get("/token").data["quota"]

    assert quota["reads"]["limit"] == reads
    assert quota["triggers"]["limit"] == triggers
