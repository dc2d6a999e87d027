"""The log of calls: bounded, and never at a call's expense."""

import threading
import time
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test import RequestFactory
from django.urls import resolve

from orbit.ids import new_id
from tests.tokens_app.builders import a_token, another_connection, at_once, call
from tokens_app.actions import record_calls
from tokens_app.actions.record_calls import BUFFERED, record_call, write_calls
from tokens_app.domain.call import Call
from tokens_app.models import TokenCall, TokenUsageDay
from tokens_app.public import note_call

pytestmark = pytest.mark.django_db(transaction=True)
NOW = datetime.fromtimestamp(time.time(), UTC).replace(hour=12, microsecond=0)


@pytest.fixture(autouse=True)
def _empty_buffer():
    record_calls._buffer.clear()
    yield
    record_calls._buffer.clear()


def a_call(token_id, *, status=200, at=NOW):
    return Call(
        token_id=token_id,
        route="GET /v1/tasks",
        status=status,
        result="ok" if status < 400 else "NOT_FOUND",
        latency_ms=1.5,
        request_id="0" * 32,
        created_at=at,
    )


def test_a_hundred_calls_of_each_token_are_kept_and_all_are_counted():
    busy, calm = new_id(), new_id()
    for number in range(150):
        record_call(a_call(busy, status=404 if number % 3 == 0 else 200))
    record_call(a_call(calm))
    record_call(a_call(busy, at=NOW - timedelta(days=92)))
    record_call(a_call(busy, at=NOW - timedelta(days=1)))

    assert write_calls() == 153

    kept = TokenCall.objects.filter(token_id=busy).order_by("-id")
    assert kept.count() == 100
    assert kept[0].created_at == NOW - timedelta(days=1)
    assert TokenCall.objects.filter(token_id=calm).count() == 1
    today = TokenUsageDay.objects.get(token_id=busy, day=NOW.date())
    assert (today.calls, today.refused) == (150, 50)
    assert TokenUsageDay.objects.filter(token_id=busy).count() == 2
    assert write_calls() == 0


def test_many_writers_of_the_same_tokens_lose_nothing():
    tokens = [new_id() for _ in range(5)]
    for _ in range(200):
        for token_id in tokens:
            record_call(a_call(token_id))

    written = at_once(6, write_calls)

    assert sum(written) == 1000
    assert [it.calls for it in TokenUsageDay.objects.all()] == [200] * 5
    assert TokenCall.objects.count() == 500


def test_a_database_that_refuses_costs_the_lines_and_nothing_else(caplog):
    with another_connection() as other, other.cursor() as holder:
        holder.execute("BEGIN")
        holder.execute("LOCK TABLE tokens_app_tokencall IN ACCESS EXCLUSIVE MODE")
        record_call(a_call(new_id()))
        with connection.cursor() as cursor:
            cursor.execute("SET lock_timeout = '50ms'")
        try:
            assert write_calls() == 0
        finally:
            with connection.cursor() as cursor:
                cursor.execute("RESET lock_timeout")
            holder.execute("ROLLBACK")

    assert "calls not kept" in caplog.text
    assert write_calls() == 0
    record_call(a_call(new_id()))
    assert write_calls() == 1


def test_the_buffer_is_bounded():
    for _ in range(BUFFERED + 5):
        record_call(a_call(new_id()))

    assert len(record_calls._buffer) == BUFFERED


def test_a_thread_writes_after_the_interval_and_ends(settings):
    settings.CALL_LOG_INTERVAL_MS = 1
    record_call(a_call(new_id()))
    for thread in threading.enumerate():
        if thread.name == "call-log":
            thread.join(timeout=30)

    assert TokenCall.objects.count() == 1


def test_a_child_process_leaves_the_parent_s_calls_to_the_parent():
    record_call(a_call(new_id()))
    before = record_calls._writer

    record_calls._forget()

    assert record_calls._writer is not before
    assert write_calls() == 0


def test_noting_a_call_takes_the_request_no_statement_and_next_to_no_time():
    issued = a_token()
    principal = call(issued.plaintext)
    request = RequestFactory().get("/v1/tasks?search=secret")
    request.resolver_match = resolve("/v1/tasks")
    started = time.perf_counter_ns()

    def note():
        note_call(
            principal, request=request, started_ns=started, status=200, result="ok"
        )

    def cost():
        begun = time.thread_time_ns()
        for _ in range(1000):
            note()
        return (time.thread_time_ns() - begun) / 1000

    assert min(cost() for _ in range(5)) < 20_000
    write_calls()
    assert TokenCall.objects.first().route == "GET /v1/tasks"
    assert "secret" not in str(list(TokenCall.objects.values()))
