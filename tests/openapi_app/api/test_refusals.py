"""Whom the open job API refuses, in which order, and in which words."""

import datetime as dt

import pytest
from django.test import Client

from orbit.ids import new_id
from tests.openapi_app.api.builders import EVERY_SCOPE, Caller, a_place, rows
from tests.tokens_app.builders import age
from tokens_app.public import Actor, revoke_token, suspend_token

VARYING = {"X-Request-Id"}
TESTS = Actor(name="tests")


def calls(job_id, execution_id):
    """Every call: method, path and the scope that it asks for."""
    return [
        ("GET", "/jobs", "jobs:read"),
        ("GET", f"/jobs/{job_id}", "jobs:read"),
        ("POST", f"/jobs/{job_id}/executions", "jobs:trigger"),
        ("GET", f"/jobs/{job_id}/executions", "executions:read"),
        ("GET", f"/executions/{execution_id}", "executions:read"),
        ("GET", "/token", None),
    ]


# The same in every worker, which must collect the same tests.
CALLS = calls("1" * 32, "2" * 32)


def identical(one, other):
    """Whether two answers cannot be told apart."""

    def visible(answer):
        body = {**answer.body, "timestamp": 0, "request_id": ""}
        headers = {
            name: value for name, value in answer.headers.items() if name not in VARYING
        }
        return answer.status, body, headers, len(answer.content)

    return visible(one) == visible(other)


@pytest.mark.parametrize(("method", "path", "scope"), CALLS)
def test_without_a_token_every_call_is_401(place, method, path, scope):  # noqa: ARG001
    answer = Caller().call(method, path)

    assert (answer.status, answer.message) == (401, "token_missing")
    assert answer.headers["WWW-Authenticate"] == "Bearer"


@pytest.mark.parametrize(
    "header",
    [
        "Bearer",
        "Bearer ",
        "Basic YTpi",
        "Bearer  fja_x",
        "Bearer fja_" + "A" * 10_000,
        "Bearer \x80\xff",
        "Bearer fja_%00",
        "Bearer fja_AAAAAAAAAAAAAAAA_" + "A" * 43,
        "Bearer fta_AAAAAAAAAAAAAAAA_" + "A" * 43,
    ],
)
def test_what_is_no_token_is_401(place, header):  # noqa: ARG001
    answer = Caller().get("/token", Authorization=header)

    assert (answer.status, answer.message) == (401, "invalid_token")
    assert answer.headers["WWW-Authenticate"] == "Bearer"


def test_a_wrong_secret_and_an_unknown_key_id_are_told_the_same(place):
    token = place.token().plaintext
    wrong = Caller(token[:-4] + "AAAA").get("/token")
    unknown = Caller("fja_AAAAAAAAAAAAAAAA_" + "A" * 43).get("/token")

    assert identical(wrong, unknown)


def test_the_holder_of_the_secret_learns_why(place):
    revoked, suspended, expired = place.token(), place.token(), place.token()
    revoke_token(token_id=revoked.token_id, by=TESTS, reason="gone")
    suspend_token(token_id=suspended.token_id, by=TESTS, reason="wait")
    age(expired.token_id, by=dt.timedelta(hours=2))

    told = [Caller(it.plaintext).get("/token") for it in (revoked, suspended, expired)]

    assert [answer.status for answer in told] == [401] * 3
    assert [answer.message for answer in told] == [
        "token_revoked",
        "token_suspended",
        "token_expired",
    ]


@pytest.mark.parametrize(
    ("method", "path", "scope"), [it for it in CALLS if it[2] is not None]
)
def test_without_its_scope_every_call_is_403(place, method, path, scope):
    others = tuple(it for it in EVERY_SCOPE if it != scope)

    answer = place.caller(scopes=others).call(method, path)

    assert (answer.status, answer.message) == (403, "insufficient_scope")
    assert scope in answer.body["detail"]


@pytest.mark.parametrize("scope", EVERY_SCOPE)
def test_any_scope_is_enough_to_see_the_token_itself(place, scope):
    assert place.caller(scopes=(scope,)).get("/token").status == 200


def test_a_job_outside_the_range_and_no_job_are_the_same_answer(place):
    foreign = place.job()
    caller = place.caller(place.job())
    other_place = a_place(number=12, group="elsewhere")
    ids = [foreign.id.hex, other_place.job().id.hex, new_id().hex]

    for ask in (
        lambda it: caller.get(f"/jobs/{it}"),
        lambda it: caller.get(f"/jobs/{it}/executions"),
        lambda it: caller.get(f"/jobs/{it}/executions", **{"Idempotency-Key": "k" * 8}),
        caller.trigger,
        lambda it: caller.trigger(it, None),
        lambda it: caller.trigger(it, body=b'{"handler": 1}'),
    ):
        first, *others = [ask(it) for it in ids]
        assert (first.status, first.message) == (403, "resource_not_permitted")
        assert all(identical(first, other) for other in others)
    assert rows() == (0, 0, 0)


def test_an_execution_outside_the_range_and_none_are_the_same_answer(place):
    foreign = place.job()
    execution = place.caller(foreign).trigger(foreign).id
    caller = place.caller(place.job())

    theirs = caller.get(f"/executions/{execution}")
    nobodys = caller.get(f"/executions/{new_id().hex}")

    assert (theirs.status, theirs.message) == (404, "execution_not_found")
    assert identical(theirs, nobodys)


def test_a_deleted_job_is_404_to_who_names_it_and_403_to_who_names_its_group(place):
    job = place.job()
    by_id = place.caller(job)
    by_group = place.caller(job_groups=("billing",))
    execution = by_id.trigger(job).id
    job.deleted_at = job.created_at
    job.save()

    for path in (f"/jobs/{job.id.hex}", f"/jobs/{job.id.hex}/executions"):
        assert by_id.get(path).message == "job_not_found"
        assert by_group.get(path).message == "resource_not_permitted"
    assert by_id.trigger(job).message == "job_not_found"
    assert by_id.get(f"/executions/{execution}").status == 200


def test_a_job_that_leaves_its_group_leaves_the_range_at_once(place):
    job = place.job()
    caller = place.caller(job_groups=("billing",))
    assert caller.get(f"/jobs/{job.id.hex}").status == 200
    job.group = type(job.group).objects.create(
        namespace_id=place.namespace_id, name="another"
    )
    job.save()

    assert caller.get(f"/jobs/{job.id.hex}").message == "resource_not_permitted"


def test_an_empty_range_reaches_nothing(place):
    place.job()

    assert place.caller().get("/jobs").data == {"items": []}


def test_a_group_of_the_same_name_elsewhere_is_not_meant(place):
    other = a_place(number=12)

    assert place.caller(job_groups=("billing",)).get("/jobs").data == {"items": []}
    assert other.caller(job_groups=("billing",)).trigger(place.job()).status == 403


def test_the_checks_of_a_trigger_come_in_their_order(place, redis):
    """Each call has the faults of all later checks too, and the first is told."""
    job, foreign = place.job(is_enabled=False), place.job()
    used_up = {"triggers_per_minute": 1}
    caller = place.caller(job, **used_up)
    scopeless = place.caller(job, scopes=("jobs:read",))

    told = [
        Caller().trigger(foreign, "bad key", body=b'{"a":1}'),
        scopeless.trigger(foreign, "bad key", body=b'{"a":1}'),
        caller.trigger(foreign, "bad key", body=b'{"a":1}'),
        caller.trigger(job, "bad key", body=b'{"a":1}'),
        caller.trigger(job, body=b'{"a":1}'),
    ]
    assert [answer.message for answer in told] == [
        "token_missing",
        "insufficient_scope",
        "resource_not_permitted",
        "idempotency_key_invalid",
        "unknown_field",
    ]
    assert not [key for key in redis.scan_iter() if "triggers" in key]
    assert caller.trigger(job).message == "job_not_triggerable"
    assert caller.trigger(job).message == "rate_limited"
    assert rows() == (0, 0, 0)


@pytest.mark.parametrize("method", ["HEAD", "OPTIONS", "PUT", "PATCH", "DELETE"])
def test_other_methods_are_405_and_say_which_there_are(place, method):
    job = place.job()
    response = Client().generic(
        method,
        f"/openapi/v1/jobs/{job.id.hex}/executions",
        headers={"Authorization": f"Bearer {place.token(job).plaintext}"},
    )

    assert response.status_code == 405
    assert response.headers["Allow"] == "GET, POST"
    assert response.headers["Content-Type"] == "application/json"
    if method != "HEAD":
        assert response.json()["message"] == "method_not_allowed"


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/",
        "/jobs/",
        "/jobs/not-hex",
        "/jobs/" + "A" * 32,
        "/executions",
        "/token/",
        "/nothing",
    ],
)
def test_a_path_there_is_not_is_404_in_json(place, path):
    answer = place.caller().get(path)

    assert (answer.status, answer.message) == (404, "not_found")


def test_a_form_is_415_and_an_immense_body_413(place):
    job = place.job()
    caller = place.caller(job)
    path, headers = f"/jobs/{job.id.hex}/executions", {"Idempotency-Key": "k" * 8}

    form = caller.call(
        "POST",
        path,
        headers=headers,
        data=b"a=1",
        content_type="application/x-www-form-urlencoded",
    )
    immense = caller.trigger(job, body=b" " * (512 * 1024 + 1))

    assert (form.status, form.message) == (415, "unsupported_media_type")
    assert (immense.status, immense.message) == (413, "body_too_large")


def test_an_unforeseen_error_is_500_in_the_envelope(place, monkeypatch):
    job = place.job()

    def fail(*_args, **_kwargs):
        raise RuntimeError("a secret thing")

    monkeypatch.setattr("openapi_app.api.executions.trigger_job", fail)

    answer = place.caller(job).trigger(job)

    assert (answer.status, answer.message) == (500, "internal_error")
    assert "a secret thing" not in answer.content.decode()
    # Nobody can say here what was committed.
    assert answer.execution_started is None
    assert answer.body["retry"]["same_key"] is True
