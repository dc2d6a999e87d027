import json
import logging
import logging.config
import sys
from uuid import UUID

import pytest
import structlog

from orbit.logs import REDACTED, JSONLine, configuration, redact, redact_value

TOKEN = "fja_" + "k" * 16 + "_" + "Ab-_" * 10 + "xyz"
SECRETS = {
    f"token {TOKEN} refused": TOKEN,
    f"Authorization: Bearer {TOKEN}": TOKEN,
    "authorization: bearer abc.def-123": "abc.def-123",
    "{'Authorization': 'Basic dXNlcjpwdw=='}": "dXNlcjpwdw",
    "HTTP_AUTHORIZATION=Bearer abc123": "abc123",
    "Idempotency-Key: transfer-77": "transfer-77",
    "{'HTTP_IDEMPOTENCY_KEY': 'transfer-77'}": "transfer-77",
    '{"idempotency_key":"transfer-77"}': "transfer-77",
    "postgresql://orbit:hunter2@db/orbit is down": "hunter2",
    "redis://:hunter2@cache:6379/0": "hunter2",
    "amqp://user:hun:ter2@broker//": "ter2",
    "connect(password='hunter2', user='x')": "hunter2",
    "password=hunter2 host=db": "hunter2",
    "Cookie: a=b; sessionid=abcdef; csrftoken=ghi": "ghi",
    "Set-Cookie: sessionid=abcdef; Path=/": "abcdef",
    "{'sessionid': 'abcdef'}": "abcdef",
    "csrfmiddlewaretoken=abcdef&next=/": "abcdef",
    '{"lease_token": "abcdef"}': "abcdef",
    "SECRET_KEY = 'abcdef'": "abcdef",
}


@pytest.mark.parametrize("text", SECRETS)
def test_a_secret_in_a_text_is_taken_out(text):
    assert SECRETS[text] not in redact(text)
    assert "[redacted]" in redact(text)


@pytest.mark.parametrize(
    "text",
    [
        "request",
        "/v1/tasks/0123456789abcdef0123456789abcdef:review",
        "http://127.0.0.1:8000/admin/",
        "task 7: 3 attempts = all",
        "The cookie jar is empty.",
    ],
)
def test_a_harmless_text_stays_as_it_is(text):
    assert redact(text) == text


def test_redaction_reaches_every_depth_and_every_kind():
    value = {
        "list": [TOKEN, {"deep": (f"x {TOKEN}",)}],
        "set": {TOKEN},
        "error": ValueError(TOKEN),
        "bytes": TOKEN.encode(),
        f"key {TOKEN}": 1,
        "password": ["hunter2"],
        "access_token": 7,
        "Cookie": {"a": "hunter2"},
        "count": 3,
        "ok": True,
        "none": None,
    }
    written = json.dumps(redact_value(value))
    assert TOKEN not in written
    assert "hunter2" not in written
    assert json.loads(written)["access_token"] == REDACTED
    assert json.loads(written)["count"] == 3
    assert json.loads(written)["ok"] is True


def line_of(**attributes):
    record = logging.makeLogRecord({"name": "n", "levelname": "INFO", **attributes})
    return json.loads(JSONLine().format(record))


def test_a_library_s_record_is_a_line_like_our_own():
    structlog.contextvars.bind_contextvars(request_id="r1")
    line = line_of(msg="for %s", args=(TOKEN,))
    structlog.contextvars.clear_contextvars()
    assert line["event"] == "for fja_[redacted]"
    assert line["request_id"] == "r1"
    assert line["level"] == "info"


def test_a_value_of_any_kind_can_be_logged():
    fields = {"id": UUID(int=1), "object": object, "not_a_number": float("nan")}
    line = line_of(msg="x", fields=fields)
    assert line["id"] == str(UUID(int=1))
    assert line["not_a_number"] is None


def test_a_line_break_in_a_message_cannot_start_a_line_of_its_own():
    record = logging.makeLogRecord({"msg": 'x\n{"event":"forged"}'})
    assert "\n" not in JSONLine().format(record)


def fail(depth):
    if depth == 0:
        raise ValueError(f"Bearer {TOKEN}")
    fail(depth - 1)


@pytest.mark.parametrize("depth", [1, 200])
def test_a_traceback_is_redacted_and_bounded(depth):
    try:
        fail(depth)
    except ValueError:
        line = line_of(msg="failed", exc_info=sys.exc_info())
    assert line["exception"].startswith("Traceback")
    assert TOKEN not in line["exception"]
    assert line["exception"].rstrip().endswith("[redacted]")
    assert len(line["exception"]) < 21_000


def test_a_cause_with_a_secret_is_redacted_too():
    try:
        try:
            fail(0)
        except ValueError as cause:
            raise RuntimeError("outer") from cause
    except RuntimeError:
        line = line_of(msg="failed", exc_info=sys.exc_info())
    assert "outer" in line["exception"]
    assert TOKEN not in line["exception"]


def test_servers_and_libraries_speak_through_the_one_handler():
    loggers = configuration()["loggers"]
    assert {"gunicorn.error", "django", "celery"} <= set(loggers)
    for settings in loggers.values():
        assert settings["handlers"] == []
        assert settings["propagate"]


def test_an_unknown_level_stops_the_start():
    with pytest.raises(KeyError):
        configuration(level="LOUD")
    configuration(level="INFO")
