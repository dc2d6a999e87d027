"""POST /openapi/v1/jobs/{id}/executions: once for each key."""

import json

import pytest

from openapi_app.models import IdempotencyRecord, JobExecution
from tests.openapi_app.api.builders import (
    Caller,
    a_place,
    age_keys,
    at_once,
    rows,
)
from tokens_app.public import Actor, Rotation, RotationReason, rotate_token


def test_a_trigger_starts_one_execution_and_says_where_it_is(place):
    job = place.job()
    caller = place.caller(job)

    answer = caller.trigger(job)

    assert answer.status == 202
    assert not answer.is_replay
    assert answer.data == {
        "id": answer.id,
        "job_id": job.id.hex,
        "job_name": job.name,
        "group": "billing",
        "source": "OPEN_API",
        "state": "ACCEPTED",
        "accepted_at": answer.data["accepted_at"],
        "started_at": None,
        "finished_at": None,
        "duration_ms": None,
        "attempts": 0,
    }
    assert answer.headers["Location"] == f"/openapi/v1/executions/{answer.id}"
    assert answer.headers["RateLimit-Policy"] == '"triggers";q=10000;w=60'
    assert answer.headers["RateLimit"].startswith('"triggers";r=9999;t=')
    assert caller.get(f"/executions/{answer.id}").data == answer.data
    assert rows() == (1, 1, 1)
    execution = JobExecution.objects.get()
    assert execution.request_id.hex == answer.body["request_id"]
    assert execution.started_by == "partner"


@pytest.mark.parametrize("body", [b"", b"{}", b" {\n} "])
def test_the_same_key_answers_the_same_execution(place, body):
    job = place.job()
    caller = place.caller(job)
    first = caller.trigger(job)

    again = caller.trigger(job, body=body)

    assert (again.status, again.id, again.is_replay) == (202, first.id, True)
    assert rows() == (1, 1, 1)


def test_a_replay_needs_neither_an_enabled_nor_a_synchronised_job(place):
    job = place.job()
    caller = place.caller(job)
    first = caller.trigger(job)
    job.is_enabled, job.sync_status = False, "FAILED"
    job.save()

    assert caller.trigger(job).id == first.id
    refused = caller.trigger(job, "another-key")
    assert (refused.status, refused.message) == (409, "job_not_triggerable")
    assert refused.execution_started is False
    assert rows() == (1, 1, 1)


@pytest.mark.parametrize(
    "changes",
    [{"is_enabled": False}, {"sync_status": "PENDING"}, {"handler": "gone"}],
)
def test_a_refusal_is_not_remembered(place, changes):
    good = place.job()
    job = place.job(**changes)
    caller = place.caller(job)
    assert caller.trigger(job).message == "job_not_triggerable"
    assert rows() == (0, 0, 0)
    for name in changes:
        setattr(job, name, getattr(good, name))
    job.save()

    answer = caller.trigger(job)

    assert (answer.status, answer.is_replay) == (202, False)


def test_keys_do_not_bleed_between_tokens_and_jobs(place):
    one, two = place.job(), place.job()
    first, second = place.caller(one, two), place.caller(one, two)

    ids = {
        first.trigger(one).id,
        second.trigger(one).id,
        first.trigger(two).id,
    }

    assert len(ids) == 3


def test_a_key_survives_the_rotation_of_its_token(place):
    job = place.job()
    token = place.token(job)
    first = Caller(token.plaintext).trigger(job)

    rotated = rotate_token(
        token_id=token.token_id,
        rotation=Rotation(reason=RotationReason.LEAKED, expected_rotation_count=0),
        by=Actor(name="tests"),
    )

    assert Caller(token.plaintext).trigger(job).message == "invalid_token"
    again = Caller(rotated.plaintext).trigger(job)
    assert (again.id, again.is_replay) == (first.id, True)


def test_of_parallel_calls_with_one_key_one_starts_the_job(place):
    job = place.job()
    caller = place.caller(job)

    answers = at_once(20, lambda _: caller.trigger(job))

    assert {answer.status for answer in answers} == {202}
    assert len({answer.id for answer in answers}) == 1
    assert sum(not answer.is_replay for answer in answers) == 1
    assert rows() == (1, 1, 1)


def test_postgresql_decides_when_nobody_holds_a_lock(place, monkeypatch):
    monkeypatch.setattr("openapi_app.gateways.key_lock._wait", lambda _lock: True)
    job = place.job()
    caller = place.caller(job)

    answers = at_once(10, lambda _: caller.trigger(job))

    assert {answer.status for answer in answers} == {202}
    assert len({answer.id for answer in answers}) == 1
    assert rows() == (1, 1, 1)


def test_a_key_stands_until_the_last_second_of_its_day(place):
    job = place.job()
    caller = place.caller(job)
    first = caller.trigger(job)

    age_keys(hours=23, minutes=59, seconds=50)

    assert caller.trigger(job).id == first.id


@pytest.mark.parametrize("is_locked", [True, False])
def test_after_its_day_a_key_starts_one_new_run_for_all_callers(
    place, monkeypatch, is_locked
):
    if not is_locked:
        monkeypatch.setattr("openapi_app.gateways.key_lock._wait", lambda _lock: True)
    job = place.job()
    caller = place.caller(job)
    first = caller.trigger(job)
    age_keys(hours=24, seconds=1)

    answers = at_once(10, lambda _: caller.trigger(job))

    assert {answer.status for answer in answers} == {202}
    (second,) = {answer.id for answer in answers}
    assert second != first.id
    assert rows() == (2, 1, 2)
    assert IdempotencyRecord.objects.get().execution_id.hex == second


def test_content_that_differs_is_another_intention(place):
    job = place.job()
    caller = place.caller(job)
    caller.trigger(job)
    IdempotencyRecord.objects.update(content_digest=b"of another time".ljust(32))

    answer = caller.trigger(job)

    assert (answer.status, answer.message) == (409, "idempotency_key_reused")
    assert answer.body["retry"] == {
        "safe": False,
        "same_key": False,
        "after_seconds": None,
    }


def test_a_key_that_somebody_works_on_for_long_is_in_progress(
    place, redis, monkeypatch
):
    monkeypatch.setattr("openapi_app.gateways.key_lock.PATIENCE_SECONDS", 0.1)
    monkeypatch.setattr("openapi_app.gateways.key_lock.LEASE_MS", 60_000)
    job = place.job()
    caller = place.caller(job)
    monkeypatch.setattr("openapi_app.gateways.key_lock._release", lambda _lock: None)
    caller.trigger(job)

    answer = caller.trigger(job)

    assert (answer.status, answer.message) == (409, "idempotency_in_progress")
    assert answer.headers["Retry-After"] == "1"
    assert answer.body["retry"] == {"safe": True, "same_key": True, "after_seconds": 1}
    assert [key for key in redis.scan_iter() if ":key:" in key]


@pytest.mark.parametrize(
    ("key", "message"),
    [
        (None, "idempotency_key_missing"),
        ("", "idempotency_key_missing"),
        ("seven77", "idempotency_key_invalid"),
        ("a" * 129, "idempotency_key_invalid"),
        ("with a space", "idempotency_key_invalid"),
        ("with/a/slash", "idempotency_key_invalid"),
        ("key-one-1,key-two-2", "idempotency_key_invalid"),
        ('"quoted-key"', "idempotency_key_invalid"),
        ("'quoted-key'", "idempotency_key_invalid"),
        ("l\xf6ng-enough", "idempotency_key_invalid"),
        ("trailing-newline\n", "idempotency_key_invalid"),
        ("nul-in-a-key\0", "idempotency_key_invalid"),
    ],
)
def test_a_key_that_breaks_the_syntax_is_refused(place, redis, key, message):
    job = place.job()

    answer = place.caller(job).trigger(job, key)

    assert (answer.status, answer.message) == (400, message)
    assert answer.execution_started is False
    assert rows() == (0, 0, 0)
    assert not list(redis.scan_iter())


def test_a_quoted_key_is_refused_with_a_hint(place):
    job = place.job()

    answer = place.caller(job).trigger(job, '"quoted-key"')

    assert "quotation marks" in answer.body["detail"]


@pytest.mark.parametrize("key", ["12345678", "a" * 128, "A.b_c:d-1"])
def test_a_key_within_the_syntax_is_taken(place, key):
    job = place.job()

    assert place.caller(job).trigger(job, key).status == 202


@pytest.mark.parametrize(
    "name", ["parameters", "tenantId", "operatorId", "handler", "executorBean"]
)
def test_no_member_of_a_job_can_be_overridden(place, name):
    job = place.job()
    body = json.dumps({name: 1}).encode()

    answer = place.caller(job).trigger(job, body=body)

    assert (answer.status, answer.message) == (400, "unknown_field")
    assert answer.body["field"] == name
    assert rows() == (0, 0, 0)


@pytest.mark.parametrize("body", [b"[]", b"null", b'""', b"{", b'{"a":1,"a":2}'])
def test_a_body_that_is_no_object_is_refused(place, body):
    job = place.job()

    answer = place.caller(job).trigger(job, body=body)

    assert (answer.status, answer.message) == (400, "invalid_request")


def test_a_full_queue_is_answered_like_any_limit(transactional_db, redis):  # noqa: ARG001
    place = a_place(number=12, max_outstanding=1)
    job = place.job()
    caller = place.caller(job)
    assert caller.trigger(job).status == 202

    answer = caller.trigger(job, "another-key")

    assert (answer.status, answer.message) == (429, "rate_limited")
    assert answer.headers["Retry-After"] == "1"
    assert rows() == (1, 1, 1)


def test_a_skipped_execution_is_the_key_s_execution(place):
    job = place.job(concurrency_policy="SKIP")
    caller = place.caller(job)
    caller.trigger(job)

    skipped = caller.trigger(job, "another-key")

    assert (skipped.status, skipped.data["state"]) == (202, "SKIPPED")
    assert caller.trigger(job, "another-key").id == skipped.id
