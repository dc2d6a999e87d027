import json
import re

import pytest
from django.db import connection
from django.test import Client

from orbit.errors import Refusal
from orbit.http import problems
from orbit.http.exact_json import BODY_LIMIT

pytestmark = pytest.mark.urls("tests.orbit.http.urls")

JSON = "application/json"


@pytest.fixture
def client():
    return Client(raise_request_exception=False)


def post(client, path, body, content_type=JSON, **headers):
    return client.post(path, body, content_type=content_type, headers=headers)


def error_of(response):
    body = json.loads(response.content)
    assert set(body) == {"request_id", "error"}
    assert body["request_id"] == response["X-Request-Id"]
    assert re.fullmatch(r"[0-9a-f]{32}", body["request_id"])
    assert response["Content-Type"] == JSON
    return body["error"]


@pytest.mark.parametrize(
    ("name", "status", "code"),
    [
        ("invalid", 400, "INVALID_ARGUMENT"),
        ("unauthenticated", 401, "UNAUTHENTICATED"),
        ("forbidden", 403, "PERMISSION_DENIED"),
        ("missing", 404, "NOT_FOUND"),
        ("conflict", 409, "STATE_CONFLICT"),
        ("full", 429, "QUEUE_FULL"),
        ("unavailable", 503, "UNAVAILABLE"),
        ("broken", 500, "INTERNAL"),
        ("nul", 500, "INTERNAL"),
        ("django-missing", 404, "NOT_FOUND"),
        ("django-denied", 403, "PERMISSION_DENIED"),
        ("django-suspicious", 400, "INVALID_ARGUMENT"),
        ("drf-throttled", 429, "TOO_MANY"),
        ("drf-unauthenticated", 401, "UNAUTHENTICATED"),
        ("drf-parse", 400, "INVALID_ARGUMENT"),
        ("drf-validation", 400, "INVALID_ARGUMENT"),
    ],
)
def test_every_exception_has_one_status_and_one_code(client, name, status, code):
    response = client.get(f"/v1/raise/{name}")
    assert response.status_code == status
    assert error_of(response)["code"] == code
    assert response.has_header("WWW-Authenticate") == (status == 401)


def test_an_error_carries_field_and_details(client):
    assert error_of(client.get("/v1/raise/invalid")) == {
        "code": "INVALID_ARGUMENT",
        "message": "Wrong.",
        "field": "retry.max_attempts",
    }
    assert error_of(client.get("/v1/raise/conflict")) == {
        "code": "STATE_CONFLICT",
        "message": "Read it again.",
        "reason": "REVISION",
        "revision": "3",
    }
    assert error_of(client.get("/v1/raise/drf-validation"))["field"] == "retry.limit"


def test_retry_after_rounds_the_milliseconds_up(client):
    response = client.get("/v1/raise/full")
    assert error_of(response)["retry_after_ms"] == 1500
    assert response["Retry-After"] == "2"


def test_an_internal_error_tells_the_caller_nothing_of_itself(client):
    response = client.get("/v1/raise/broken")
    assert b"SECRET" not in response.content
    assert b"RuntimeError" not in response.content


@pytest.mark.parametrize("path", ["/v1", "/v1/", "/v1/none", "/v1/echo/"])
def test_an_unknown_path_of_an_api_is_404_in_json(client, path):
    response = client.get(path)
    assert response.status_code == 404
    assert error_of(response)["code"] == "NOT_FOUND"


@pytest.mark.parametrize("path", ["/none", "/v1x", "/v10/none"])
def test_an_unknown_path_elsewhere_is_404_in_html(client, path):
    response = client.get(path)
    assert response.status_code == 404
    assert response["Content-Type"].startswith("text/html")
    assert b"style" not in response.content


@pytest.mark.parametrize(
    ("path", "status"), [("/broken-page", 500), ("/denied-page", 403)]
)
def test_a_page_that_fails_is_html_without_inline_style(client, path, status):
    response = client.get(path)
    assert response.status_code == status
    assert response["Content-Type"].startswith("text/html")
    assert b"<style" not in response.content
    assert b"RuntimeError" not in response.content


@pytest.mark.parametrize("path", ["/v1/broken-function", "/v1/unrenderable"])
def test_what_fails_outside_a_view_is_500_in_json(client, path):
    response = client.get(path)
    assert response.status_code == 500
    assert error_of(response)["code"] == "INTERNAL"


@pytest.mark.parametrize("method", ["put", "delete", "patch", "options", "trace"])
def test_a_method_that_is_not_there_is_405_with_allow(client, method):
    response = getattr(client, method)("/v1/echo")
    assert response.status_code == 405
    assert response["Allow"] == "GET, POST, HEAD"
    if method != "trace":
        assert error_of(response)["code"] == "METHOD_NOT_ALLOWED"


def test_head_answers_like_get_without_a_body(client):
    response = client.head("/v1/echo")
    assert response.status_code == 200
    assert response.content == b""


@pytest.mark.parametrize(
    "content_type",
    ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "*/*"],
)
def test_a_body_that_is_not_json_is_415(client, content_type):
    response = post(client, "/v1/echo", b'{"payload":1}', content_type)
    assert response.status_code == 415
    assert error_of(response)["code"] == "UNSUPPORTED_MEDIA_TYPE"


def test_json_with_a_charset_and_any_accept_header_is_welcome(client):
    response = post(
        client,
        "/v1/echo",
        b'{"payload":1.10}',
        "application/json; charset=utf-8",
        accept="text/html",
    )
    assert response.status_code == 201
    assert response["Content-Type"] == JSON
    assert response.content.endswith(b'"data":{"payload":1.10}}')


def test_a_body_of_exactly_the_limit_is_accepted_and_one_byte_more_refused(client):
    start, end = b'{"payload":"', b'"}'
    filling = b"x" * (BODY_LIMIT - len(start) - len(end))
    assert post(client, "/v1/echo", start + filling + end).status_code == 201
    response = post(client, "/v1/echo", start + filling + b"x" + end)
    assert response.status_code == 413
    assert error_of(response)["code"] == "BODY_TOO_LARGE"


def test_a_body_over_every_limit_is_413_and_not_read(client):
    assert post(client, "/v1/echo", b"[" * (4 * BODY_LIMIT)).status_code == 413


def test_an_empty_body_asks_for_an_object(client):
    response = post(client, "/v1/echo", b"")
    assert response.status_code == 400
    assert error_of(response)["message"] == "Send a JSON object."


def test_a_refused_body_names_its_field(client):
    response = post(client, "/v1/echo", b'{"Payload":1}')
    assert response.status_code == 400
    assert error_of(response)["field"] == "Payload"


def test_an_api_writes_its_problems_in_its_own_shape(client, monkeypatch):
    def shape(_request, refusal: Refusal, status):
        return {"code": status, "message": refusal.code.lower()}

    monkeypatch.setattr(problems, "_shapes", dict(problems._shapes))
    problems.answer_problems(prefix="/openapi", shape=shape)
    response = client.get("/openapi/v1/none")
    assert json.loads(response.content) == {"code": 404, "message": "not_found"}
    assert error_of(client.get("/v1/none"))["code"] == "NOT_FOUND"


FAULTS = {
    "lock not available": "DO $$ BEGIN RAISE SQLSTATE '55P03'; END $$",
    "query cancelled": "SET LOCAL statement_timeout = 1; SELECT pg_sleep(5)",
    "admin shutdown": "DO $$ BEGIN RAISE SQLSTATE '57P01'; END $$",
    "deadlock": "DO $$ BEGIN RAISE SQLSTATE '40P01'; END $$",
    "serialization": "DO $$ BEGIN RAISE SQLSTATE '40001'; END $$",
    "too many connections": "DO $$ BEGIN RAISE SQLSTATE '53300'; END $$",
    "disk full": "DO $$ BEGIN RAISE SQLSTATE '53100'; END $$",
    "read only": "SET TRANSACTION READ ONLY; CREATE TABLE never (id int)",
    "idle in transaction": "DO $$ BEGIN RAISE SQLSTATE '25P03'; END $$",
    "connection failure": "DO $$ BEGIN RAISE SQLSTATE '08006'; END $$",
}


@pytest.mark.django_db
@pytest.mark.parametrize("fault", FAULTS)
def test_a_database_in_trouble_is_503_with_the_next_step(client, fault):
    response = post(client, "/v1/sql", json.dumps(FAULTS[fault]))
    assert response.status_code == 503
    assert response["Retry-After"] == "1"
    error = error_of(response)
    assert error["code"] == "UNAVAILABLE"
    assert error["message"] == (
        "The outcome may be committed: keep the same Idempotency-Key and ask again."
    )


@pytest.mark.django_db
def test_a_nul_that_reaches_the_driver_is_400(client):
    response = post(client, "/v1/text", b"1")
    assert response.status_code == 400
    assert error_of(response)["code"] == "INVALID_ARGUMENT"


@pytest.mark.django_db
@pytest.mark.parametrize("statement", ["SELECT nothing", "SELECT 1/0"])
def test_a_mistake_in_a_statement_is_500_and_hides_it(client, statement):
    response = post(client, "/v1/sql", json.dumps(statement))
    assert response.status_code == 500
    assert b"nothing" not in response.content
    assert connection.vendor == "postgresql"
