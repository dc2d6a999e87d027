import io
import json
import logging
import re

import pytest
import structlog
from django.http import HttpResponse
from django.test import Client, RequestFactory

from orbit.http.request_id import RequestIdMiddleware
from orbit.logs import REDACTED, JSONLine

pytestmark = pytest.mark.urls("tests.orbit.http.urls")

TOKEN = "fta_" + "k" * 16 + "_" + "s" * 43


@pytest.fixture
def lines():
    """What the product's formatter writes during the test, line by line."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JSONLine())
    root = logging.getLogger()
    root.addHandler(handler)
    yield lambda: [json.loads(line) for line in stream.getvalue().splitlines()]
    root.removeHandler(handler)


def get(path, **headers):
    return Client(raise_request_exception=False).get(path, headers=headers)


def test_a_request_is_one_line_with_its_id(lines):
    response = get("/v1/echo?cursor=hidden")
    (line,) = lines()
    assert line.pop("duration_ms") > 0
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:]{8}\.\d{6}Z", line.pop("timestamp"))
    assert line == {
        "level": "info",
        "logger": "orbit.request",
        "event": "request",
        "method": "GET",
        "path": "/v1/echo",
        "status": 200,
        "request_id": response["X-Request-Id"],
    }


def test_each_call_has_an_id_of_its_own_whatever_the_caller_sends():
    mine = "0" * 32
    ids = {get("/livez", x_request_id=mine)["X-Request-Id"] for _ in range(3)}
    assert len(ids) == 3
    assert mine not in ids
    assert all(re.fullmatch(r"[0-9a-f]{32}", one) for one in ids)


@pytest.mark.parametrize(
    ("path", "level"),
    [
        ("/page", "info"),
        ("/none", "warning"),
        ("/v1/raise/conflict", "warning"),
        ("/v1/raise/unavailable", "error"),
    ],
)
def test_the_level_follows_the_status(lines, path, level):
    get(path)
    assert lines()[-1]["level"] == level


@pytest.mark.parametrize(
    "path", ["/v1/raise/broken", "/v1/broken-function", "/broken-page"]
)
def test_a_failure_logs_its_traceback_once_under_the_same_id(lines, path):
    response = get(path, authorization=f"Bearer {TOKEN}", idempotency_key="k-1")
    failure, request = lines()
    assert failure["level"] == request["level"] == "error"
    assert "Traceback" in failure["exception"]
    assert failure["request_id"] == request["request_id"] == response["X-Request-Id"]
    written = json.dumps([failure, request])
    assert "SECRET" not in written
    assert TOKEN not in written
    assert "k-1" not in written


def test_fields_that_a_view_binds_are_in_the_line_and_only_there(lines):
    def view(_request):
        structlog.contextvars.bind_contextvars(task_id="t1", token=TOKEN)
        return HttpResponse()

    RequestIdMiddleware(view)(RequestFactory().get("/v1/x"))
    RequestIdMiddleware(lambda _request: HttpResponse())(RequestFactory().get("/v1/y"))
    first, second = lines()
    assert first["task_id"] == "t1"
    assert first["token"] == REDACTED
    assert "task_id" not in second
    assert structlog.contextvars.get_contextvars() == {}


def test_nothing_stays_bound_after_a_view_that_no_one_caught():
    def view(_request):
        raise KeyError

    with pytest.raises(KeyError):
        RequestIdMiddleware(view)(RequestFactory().get("/v1/x"))
    assert structlog.contextvars.get_contextvars() == {}
