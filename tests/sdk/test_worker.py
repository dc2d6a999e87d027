"""What the worker does with tasks, leases, and a server that misbehaves."""

import logging
import os
import signal
import threading
import time

import pytest

from orbit_sdk import Client, PermissionDenied, UnreadableAnswer
from orbit_sdk.worker import (
    Cancelled,
    LeaseLost,
    OutcomeUnknown,
    RetryableError,
    Worker,
    WorkerOptions,
)
from tests.sdk.bodies import QUEUE_ID
from tests.sdk.stand_in import stand_in_server


@pytest.fixture
def orbit():
    with stand_in_server() as (stand_in, base_url), Client(base_url, "t") as client:
        stand_in.client = client
        yield stand_in


def a_worker(orbit, function, **options):
    options = {"lease_ms": 1_000, "poll_seconds": 0.05} | options
    worker = Worker(
        client=orbit.client,
        queue_id=QUEUE_ID,
        name="w",
        options=WorkerOptions(**options),
    )
    worker.handler("h", "v1")(function)
    return worker


def the_report(orbit, number=1):
    (report,) = orbit.attempt(number).reports
    return report


def test_a_handlers_value_is_the_result(orbit):
    orbit.add(payload='{"sequence": 9007199254740993}')

    a_worker(orbit, lambda context: context.payload.decode()).drain()

    report = the_report(orbit)
    assert report["kind"] == "succeed"
    assert report["result"] == {"sequence": 9007199254740993}
    assert report["lease_token"] == f"t{report['attempt_id']}"
    claim = orbit.claims[0]
    assert claim["handlers"] == [{"handler": "h", "handler_version": "v1"}]
    assert claim["worker"]["name"] == "w"
    assert len(claim["worker"]["instance_id"]) == 32


def raising(error):
    def handler(_context):
        raise error

    return handler


@pytest.mark.parametrize(
    ("error", "kind", "code", "retryable"),
    [
        (ValueError("no"), "fail", "ValueError", False),
        (RetryableError("no"), "fail", "RetryableError", True),
        (OutcomeUnknown("no"), "unknown", "OutcomeUnknown", None),
        (LeaseLost("no"), "unknown", "LeaseLost", None),
        (SystemExit("no"), "unknown", "SystemExit", None),
        (Cancelled("no"), "fail", "Cancelled", False),
    ],
)
def test_each_exception_has_its_report(orbit, error, kind, code, retryable):
    orbit.add()

    a_worker(orbit, raising(error)).drain()

    report = the_report(orbit)
    assert report["kind"] == kind
    assert report["error"] == {"code": code, "message": "no"}
    assert report.get("retryable") is retryable


def test_a_message_is_cut_and_cleaned_to_what_the_server_takes(orbit, caplog):
    # The log shows the message as it was, and xdist cannot carry a lone surrogate.
    caplog.set_level(logging.CRITICAL, logger="orbit_sdk.worker")
    orbit.add()
    error = type("E" * 150, (Exception,), {})("a\0\ud800" + "é" * 3_000)

    a_worker(orbit, raising(error)).drain()

    said = the_report(orbit)["error"]
    assert said == {"code": "E" * 100, "message": "a?" + "é" * 1_998}


@pytest.mark.parametrize(
    ("result", "code"),
    [
        ("x" * (256 * 1024 - 1), "RESULT_TOO_LARGE"),
        (object(), "RESULT_NOT_JSON"),
        (float("nan"), "RESULT_NOT_JSON"),
    ],
)
def test_a_result_that_cannot_be_taken_is_a_small_failure(orbit, result, code):
    orbit.add()

    a_worker(orbit, lambda _: result).drain()

    report = the_report(orbit)
    assert (report["kind"], report["error"]["code"]) == ("fail", code)
    assert report["retryable"] is False


def test_a_result_of_just_the_limit_is_sent(orbit):
    orbit.add()

    a_worker(orbit, lambda _: "x" * (256 * 1024 - 2)).drain()

    assert the_report(orbit)["kind"] == "succeed"


def test_a_result_the_server_refuses_becomes_a_failure_under_the_same_lease(orbit):
    orbit.add()
    orbit.faults["succeed"] = [(400, "INVALID_ARGUMENT")]

    a_worker(orbit, lambda _: 1).drain()

    first, second = orbit.attempt().reports
    assert first["kind"] == "succeed"
    assert (second["kind"], second["error"]["code"]) == ("fail", "RESULT_REFUSED")
    assert second["lease_token"] == first["lease_token"]
    assert orbit.attempt().final == "fail"


def test_a_slow_handler_keeps_its_lease(orbit):
    orbit.add()

    def slow(context):
        orbit.until(lambda: orbit.attempt().heartbeats >= 4)
        context.check()
        return "done"

    a_worker(orbit, slow).drain()

    assert the_report(orbit)["kind"] == "succeed"
    assert the_report(orbit)["late"] is False


def test_a_handler_is_stopped_before_a_lease_that_cannot_be_renewed_ends(orbit):
    orbit.add()
    orbit.faults["heartbeat"] = ["always hang"]
    seen = {}

    def slow(context):
        assert context.cancelled.wait(60)
        seen["left"] = orbit.attempt().expires_at - time.time()
        context.check()

    a_worker(orbit, slow, lease_ms=4_000).drain()

    assert 0 < seen["left"] < 1.6
    report = the_report(orbit)
    assert (report["kind"], report["error"]["code"]) == ("unknown", "LeaseLost")
    assert report["late"] is False


def test_a_lease_the_server_made_shorter_is_not_believed_longer(orbit):
    orbit.longest_lease = 3.0
    orbit.add()
    orbit.faults["heartbeat"] = ["always hang"]
    seen = {}

    def slow(context):
        assert context.cancelled.wait(60)
        seen["left"] = orbit.attempt().expires_at - time.time()

    a_worker(orbit, slow, lease_ms=20_000).drain()

    assert seen["left"] > 0


def test_a_lease_the_server_made_shorter_is_renewed_in_time(orbit):
    orbit.longest_lease = 2.0
    orbit.add()

    def slow(context):
        orbit.until(lambda: orbit.attempt().heartbeats >= 2)
        context.check()
        return "done"

    a_worker(orbit, slow, lease_ms=30_000).drain()

    report = the_report(orbit)
    assert (report["kind"], report["late"]) == ("succeed", False)


def test_check_is_right_even_when_no_thread_has_looked(orbit):
    orbit.add()
    orbit.faults["heartbeat"] = ["always hang"]
    seen = []

    def busy(context):
        while context.remaining_seconds > 0:
            pass
        with pytest.raises(LeaseLost):
            context.check()
        seen.append(orbit.attempt().expires_at - time.time())

    a_worker(orbit, busy).drain()

    assert seen[0] > 0


def test_a_late_success_is_offered_once_as_evidence_and_dropped(orbit):
    orbit.add()
    orbit.faults["heartbeat"] = ["always hang"]

    def stubborn(_context):
        while not orbit.attempt().is_over:
            time.sleep(0.01)
        return "I think it worked"

    a_worker(orbit, stubborn).drain()

    report = the_report(orbit)
    assert (report["kind"], report["late"]) == ("succeed", True)
    assert orbit.attempt().final is None


def test_a_task_that_became_final_elsewhere_is_done_and_not_lost(orbit, caplog):
    orbit.add()

    def slow(context):
        orbit.attempt().final = "cancelled"
        assert context.cancelled.wait(5)
        with pytest.raises(LeaseLost, match="the task is done: SUCCEEDED"):
            context.check()

    a_worker(orbit, slow).drain()

    assert "The lease is lost" not in caplog.text


def test_a_cancel_request_reaches_the_handler_and_is_acknowledged(orbit):
    orbit.add()

    def polite(context):
        orbit.attempt().cancel_requested = True
        assert context.cancel_requested.wait(5)
        assert not context.cancelled.is_set()
        raise Cancelled

    a_worker(orbit, polite).drain()

    assert the_report(orbit)["kind"] == "cancelled"


@pytest.mark.parametrize("misdeed", ["break", (503, "UNAVAILABLE"), (500, "INTERNAL")])
def test_a_report_is_repeated_until_it_is_answered(orbit, misdeed):
    orbit.add()
    orbit.faults["report"] = [misdeed, misdeed]

    a_worker(orbit, lambda _: 1).drain()

    assert the_report(orbit)["kind"] == "succeed"


def test_a_report_is_still_offered_after_its_lease_for_a_bounded_time(orbit):
    orbit.add()
    orbit.faults["report"] = [(503, "UNAVAILABLE")] * 1_000
    orbit.faults["heartbeat"] = [(503, "UNAVAILABLE")] * 1_000
    started = time.monotonic()

    a_worker(orbit, lambda _: 1, evidence_seconds=0.5).drain()

    assert 1.5 <= time.monotonic() - started < 6
    assert orbit.attempt().reports == []


def test_a_claim_is_repeated_while_the_server_is_away(orbit):
    orbit.add()
    orbit.faults["claim"] = ["break", (503, "UNAVAILABLE"), (429, "QUEUE_FULL")]

    a_worker(orbit, lambda _: 1).drain()

    assert the_report(orbit)["kind"] == "succeed"


def test_after_a_lost_answer_one_task_is_risked_and_not_all(orbit):
    for _ in range(3):
        orbit.add()
    orbit.faults["claim"] = ["break"]

    a_worker(orbit, lambda _: 1, concurrency=3).drain()

    assert [it["max_tasks"] for it in orbit.claims][:2] == [1, 2]


def test_assignments_that_cannot_be_read_end_the_claiming(orbit):
    orbit.add(payload="not JSON")
    orbit.add()

    with pytest.raises(UnreadableAnswer):
        a_worker(orbit, lambda _: 1).run()

    assert len(orbit.claims) == 1


def test_a_worker_without_a_handler_does_not_start(orbit):
    worker = Worker(client=orbit.client, queue_id=QUEUE_ID)

    with pytest.raises(ValueError, match="handler"):
        worker.run()


def test_a_refusal_that_will_not_pass_is_raised_after_the_running_is_done(orbit):
    orbit.add()
    allowed = threading.Event()

    def handler(_context):
        orbit.until(lambda: len(orbit.faults["claim"]) == 0)
        return 1

    orbit.faults["claim"] = []
    worker = a_worker(orbit, handler, concurrency=2)
    original = orbit.claim

    def claim_once(ident, body):
        answer = original(ident, body)
        if not allowed.is_set():
            allowed.set()
            orbit.faults["claim"] = [(403, "PERMISSION_DENIED")]
        return answer

    orbit.claim = claim_once

    with pytest.raises(PermissionDenied):
        worker.run()

    assert the_report(orbit)["kind"] == "succeed"


def test_a_batch_is_reported_in_one_call(orbit):
    for number in range(50):
        orbit.add(payload=str(number))

    a_worker(orbit, lambda it: it.payload.decode(), batch=50, lease_ms=30_000).drain()

    assert orbit.report_calls == 1
    assert [it["max_tasks"] for it in orbit.claims] == [50, 50]
    results = [the_report(orbit, number)["result"] for number in range(1, 51)]
    assert results == list(range(50))


def test_finished_tasks_of_a_batch_do_not_wait_for_a_slow_one(orbit):
    for number in range(3):
        orbit.add(payload=str(number))

    def handler(context):
        if context.payload.decode() == 2:
            orbit.until(lambda: orbit.attempt(1).reports and orbit.attempt(2).reports)

    a_worker(orbit, handler, batch=10, lease_ms=30_000).drain()

    assert the_report(orbit, 3)["kind"] == "succeed"


def test_results_too_large_for_one_body_go_in_several(orbit):
    for _ in range(4):
        orbit.add()

    a_worker(orbit, lambda _: "x" * 200_000, batch=4, lease_ms=30_000).drain()

    assert [the_report(orbit, it)["kind"] for it in range(1, 5)] == ["succeed"] * 4
    assert orbit.report_calls == 2


def test_as_many_handlers_run_at_once_as_was_said(orbit):
    for _ in range(3):
        orbit.add()
    together = threading.Barrier(3, timeout=10)

    a_worker(orbit, lambda _: together.wait() * 0, concurrency=3).drain()

    assert [the_report(orbit, it)["kind"] for it in range(1, 4)] == ["succeed"] * 3


def test_a_running_handler_may_finish_after_a_stop(orbit):
    orbit.add()
    orbit.add()
    workers: list[Worker] = []

    def handler(_context):
        workers[0].stop()
        return 1

    workers.append(a_worker(orbit, handler))
    workers[0].run()

    assert the_report(orbit)["kind"] == "succeed"
    assert len(orbit.tasks) == 1


def test_a_handler_that_outlasts_the_grace_is_left_to_its_lease(orbit):
    for _ in range(2):
        orbit.add()
    workers: list[Worker] = []
    release = threading.Event()

    def handler(_context):
        workers[0].stop()
        release.wait(20)

    workers.append(
        a_worker(orbit, handler, batch=2, grace_seconds=0.2, lease_ms=30_000)
    )
    workers[0].run()
    release.set()

    assert orbit.attempt(1).reports == []
    report = the_report(orbit, 2)
    assert (report["kind"], report["error"]["code"]) == ("fail", "NOT_STARTED")
    assert report["retryable"] is True


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_the_worker_and_its_own_handling_comes_back(orbit, number):
    orbit.add()
    before = signal.getsignal(number)

    def handler(_context):
        os.kill(os.getpid(), number)
        return 1

    a_worker(orbit, handler).run()

    assert the_report(orbit)["kind"] == "succeed"
    assert signal.getsignal(number) is before


def test_a_second_handler_for_the_same_name_is_refused(orbit):
    worker = a_worker(orbit, lambda _: 1)

    with pytest.raises(ValueError, match="already"):
        worker.handler("h", "v1")(lambda _: 2)
