"""The lock of a key: it serialises, and losing it harms nobody."""

import itertools
import time
from threading import Event

import pytest

from openapi_app.api import executions
from openapi_app.gateways import key_lock
from openapi_app.gateways.key_lock import admit, holding
from openapi_app.gateways.rate_limit import Bucket
from tests.openapi_app.api.builders import at_once, rows

BUCKET = Bucket(name="triggers", subject="somebody", limit=1_000)


def keys(redis):
    """The locks that are held now."""
    return [key for key in redis.scan_iter() if ":key:" in key]


def test_a_lock_is_had_at_once_and_released(redis):
    admission = admit(bucket=BUCKET, digest="d")
    assert admission.is_held

    with holding(admission) as is_held:
        assert is_held
        assert 0 < redis.pttl(admission.lock.key) <= key_lock.LEASE_MS

    assert keys(redis) == []


def test_a_second_caller_waits_for_the_first(redis):  # noqa: ARG001
    inside, order = Event(), []

    def act(number):
        if number:
            inside.wait(10)
        admission = admit(bucket=BUCKET, digest="d")
        with holding(admission) as is_held:
            assert is_held
            order.append(f"{number} in")
            inside.set()
            time.sleep(0.2)
            order.append(f"{number} out")

    at_once(2, act)

    assert order == ["0 in", "0 out", "1 in", "1 out"]


def test_who_waits_outlasts_the_lease_of_the_dead(redis):  # noqa: ARG001
    admit(bucket=BUCKET, digest="d")  # and dies

    with holding(admit(bucket=BUCKET, digest="d")) as is_held:
        assert is_held


def test_a_lost_lock_of_somebody_else_is_not_deleted(redis):
    admission = admit(bucket=BUCKET, digest="d")

    with holding(admission):
        redis.delete(admission.lock.key)
        other = admit(bucket=BUCKET, digest="d")
        assert other.is_held

    assert redis.get(admission.lock.key) == other.lock.owner


def test_over_the_limit_no_lock_is_taken(redis):
    bucket = Bucket(name="triggers", subject="somebody", limit=1)
    with holding(admit(bucket=bucket, digest="d")):
        pass

    admission = admit(bucket=bucket, digest="d")

    assert not admission.quota.is_kept
    assert keys(redis) == []


@pytest.mark.parametrize("loss", ["deleted", "expired"])
def test_a_lock_lost_in_the_middle_leaves_one_execution(
    place, redis, monkeypatch, loss
):
    job = place.job()
    caller = place.caller(job)
    monkeypatch.setattr(key_lock, "LEASE_MS", 200 if loss == "expired" else 60_000)
    inside = Event()
    trigger_job = executions.trigger_job

    def slow(trigger):
        if not inside.is_set():
            inside.set()
            if loss == "deleted":
                redis.delete(*keys(redis))
            time.sleep(1)
        return trigger_job(trigger)

    monkeypatch.setattr(executions, "trigger_job", slow)

    def act(number):
        if number:
            inside.wait(10)
        return caller.trigger(job)

    answers = at_once(4, act)

    assert {answer.status for answer in answers} == {202}
    assert len({answer.id for answer in answers}) == 1
    assert rows() == (1, 1, 1)


def test_a_script_that_the_server_lost_is_sent_again(redis):
    with holding(admit(bucket=BUCKET, digest="d")):
        redis.script_flush()
        redis.config_resetstat()

    assert keys(redis) == []


def test_a_trigger_takes_two_round_trips_to_redis(place, redis):
    job = place.job()
    caller = place.caller(job)
    caller.trigger(job)
    database = redis.connection_pool.connection_kwargs["db"]

    with redis.monitor() as monitor:
        caller.trigger(job)
        redis.echo("the end")
        sent = list(
            itertools.takewhile(
                lambda it: "the end" not in it["command"], monitor.listen()
            )
        )

    # Other workers of the suite use other databases of the same server.
    ours = [it["command"] for it in sent if int(it["db"]) == database]
    assert [it.split()[0].upper() for it in ours].count("EVALSHA") == 2
