"""The SDK and a real Orbit, over HTTP."""

import asyncio
import json
import os
import signal
import threading
import uuid

import pytest

from orbit_sdk import (
    AsyncClient,
    AttemptError,
    Claim,
    Client,
    IdempotencyConflict,
    InvalidArgument,
    Json,
    KeyedTask,
    NewTask,
    NotFound,
    PageRequest,
    PayloadTooLarge,
    ReceiptQuestion,
    Report,
    Retry,
    RetryPolicy,
    Review,
    StateConflict,
    TaskFilter,
    Unauthenticated,
    WorkerIdentity,
)
from orbit_sdk.worker import Cancelled, Worker, WorkerOptions
from tests.sdk.waiting import eventually

# One worker pays for what these tests share.
pytestmark = pytest.mark.xdist_group("sdk_server")

EXACT = '{"big": 123456789012345678901234567890, "rate": 1.10, "far": 1E400, "z": -0}'


ERROR = AttemptError(code="E", message="m")


def a_task(orbit, *, kind=NewTask, **members):
    members = {
        "handler": "h",
        "payload": Json(EXACT),
        "retry": RetryPolicy(attempt_timeout_ms=60_000),
    } | members
    return kind(
        queue_id=orbit.queue_id,
        handler_version="v1",
        payload_version="v1",
        task_timeout_ms=120_000,
        **members,
    )


def submit(orbit, *, key="key", **members):
    receipt = orbit.client.submit_task(a_task(orbit, **members), idempotency_key=key)
    return receipt.task.id


def claim(orbit, *, lease_ms=30_000):
    (assignment,) = orbit.client.claim_tasks(
        orbit.queue_id,
        Claim(
            worker=WorkerIdentity(name="by hand", instance_id=uuid.uuid4().hex),
            max_tasks=1,
            lease_ms=lease_ms,
        ),
    ).assignments
    return assignment


def a_worker(orbit, function, *, client=None, **options):
    options = {"lease_ms": 2_000, "poll_seconds": 0.05} | options
    worker = Worker(
        client=client or orbit.client,
        queue_id=orbit.queue_id,
        options=WorkerOptions(**options),
    )
    worker.handler("h", "v1")(function)
    return worker


def test_the_digits_of_a_payload_are_the_digits_of_the_result(orbit):
    task_id = submit(orbit)
    seen = []

    def echo(context):
        seen.append(context.payload.text)
        return context.payload

    a_worker(orbit, echo).drain()

    task = orbit.client.get_task(task_id)
    assert task.state == "SUCCEEDED"
    assert seen == [EXACT]
    assert (task.payload.text, task.result.text) == (EXACT, EXACT)


def test_the_same_key_gets_the_first_receipt_and_other_content_a_conflict(orbit):
    task = a_task(orbit)
    first = orbit.client.submit_task(task, idempotency_key="k")

    again = orbit.client.submit_task(task, idempotency_key="k")

    assert (first.deduplicated, again.deduplicated) == (False, True)
    assert again.task.id == first.task.id
    assert again.request_id != first.request_id
    with pytest.raises(IdempotencyConflict) as caught:
        orbit.client.submit_task(a_task(orbit, payload=2), idempotency_key="k")
    assert caught.value.outcome_unknown is False
    assert caught.value.request_id


def test_a_batch_creates_replays_and_refuses_one_by_one(orbit):
    submit(orbit, key="old")
    tasks = [
        a_task(orbit, kind=KeyedTask, idempotency_key="new"),
        a_task(orbit, kind=KeyedTask, idempotency_key="old"),
        a_task(orbit, kind=KeyedTask, idempotency_key="bad", priority=101),
    ]

    created, replayed, refused = orbit.client.submit_tasks(tasks).results

    assert (created.status, created.deduplicated) == (201, False)
    assert (replayed.status, replayed.deduplicated) == (200, True)
    assert refused.status == 400
    assert isinstance(refused.refusal, InvalidArgument)
    assert refused.refusal.field == "tasks[2].priority"


def test_an_argument_that_is_refused_is_named(orbit):
    with pytest.raises(InvalidArgument) as caught:
        submit(orbit, priority=101)

    assert caught.value.field == "priority"


def test_a_wrong_token_and_a_foreign_task_are_told_apart(orbit):
    with (
        Client(orbit.base_url, orbit.token[:-4] + "aaaa") as stranger,
        pytest.raises(Unauthenticated),
    ):
        stranger.get_task("0" * 32)
    with pytest.raises(NotFound):
        orbit.client.get_task("0" * 32)


def test_the_awaited_client_speaks_to_it_as_well(orbit):
    async def submit_and_read():
        async with AsyncClient(orbit.base_url, orbit.token) as client:
            receipt = await client.submit_task(a_task(orbit), idempotency_key="k")
            return await client.get_task(receipt.task.id)

    task = asyncio.run(submit_and_read())

    assert (task.state, task.payload.text) == ("WAITING", EXACT)


def test_lists_go_on_from_their_cursor(orbit):
    for number in range(3):
        submit(orbit, key=f"k{number}", business_key=f"b{number}")

    first = orbit.client.list_tasks(page=PageRequest(limit=2))
    rest = orbit.client.list_tasks(page=PageRequest(limit=2, cursor=first.next_cursor))
    one = orbit.client.list_tasks(TaskFilter(business_key="b1", state="WAITING"))

    keys = {it.business_key for it in (*first.items, *rest.items)}
    assert keys == {"b0", "b1", "b2"}
    assert rest.next_cursor is None
    assert [it.business_key for it in one.items] == ["b1"]


def test_a_waiting_task_is_cancelled(orbit):
    task_id = submit(orbit)

    receipt = orbit.client.cancel_task(task_id, idempotency_key="c", reason="not now")

    assert (receipt.task.state, receipt.deduplicated) == ("CANCELLED", False)
    assert orbit.client.cancel_task(
        task_id, idempotency_key="c", reason="not now"
    ).deduplicated


@pytest.mark.parametrize(
    ("report", "state"),
    [
        (
            lambda it, ident, token: it.succeed(
                ident, lease_token=token, result=Json("1.10")
            ),
            "SUCCEEDED",
        ),
        (
            lambda it, ident, token: it.fail(
                ident, lease_token=token, error=ERROR, retryable=False
            ),
            "FAILED",
        ),
        (lambda it, ident, token: it.unknown(ident, lease_token=token), "NEEDS_REVIEW"),
        (
            lambda it, ident, token: it.unknown(ident, lease_token=token, error=ERROR),
            "NEEDS_REVIEW",
        ),
    ],
)
def test_each_report_by_hand_is_answered_with_the_task(orbit, report, state):
    submit(orbit)
    taken = claim(orbit)

    answer = report(orbit.client, taken.attempt_id, taken.lease_token)

    assert answer.task.state == state
    assert answer.request_id


def test_a_batch_of_reports_is_answered_one_by_one(orbit):
    for number in range(2):
        submit(orbit, key=f"k{number}")
    first, second = claim(orbit), claim(orbit)

    good, bad = orbit.client.report(
        [
            Report.succeed(
                attempt_id=first.attempt_id, lease_token=first.lease_token, result=1
            ),
            Report.cancelled(
                attempt_id=second.attempt_id, lease_token=second.lease_token
            ),
        ]
    ).results

    assert (good.status, good.attempt_id) == (200, first.attempt_id)
    assert (good.task.id, good.task.state) == (first.task.id, "SUCCEEDED")
    assert bad.status == 409
    assert isinstance(bad.refusal, StateConflict)


def test_a_review_and_a_retry_leave_their_audit(orbit):
    task_id = submit(orbit)
    taken = claim(orbit)
    orbit.client.unknown(taken.attempt_id, lease_token=taken.lease_token)
    revision = orbit.client.get_task(task_id).revision

    reviewed = orbit.client.review_task(
        task_id,
        Review(
            expected_revision=revision,
            reason="looked",
            evidence_ref="evidence:1",
            execution_settled=True,
            outcome="FAILED",
            result=Json('{"sequence": 9007199254740993}'),
        ),
        idempotency_key="r",
    )
    retry = Retry(
        expected_revision=reviewed.task.revision,
        reason="safe",
        evidence_ref="evidence:2",
        safe_to_retry=True,
        task_timeout_ms=60_000,
    )
    child = orbit.client.retry_task(task_id, retry, idempotency_key="t")

    assert reviewed.task.result.decode() == {"sequence": 9007199254740993}
    assert (child.source_task_id, child.task.retry_of) == (task_id, task_id)
    assert child.task.payload.text == EXACT
    operations = orbit.client.list_operations(task_id)
    assert {"task.review", "task.retry"} <= {it.action for it in operations.items}
    detail = orbit.client.get_operation(task_id, child.audit_id)
    assert detail.after.decode()["retry_task_id"] == child.task.id
    with pytest.raises(StateConflict) as caught:
        orbit.client.retry_task(task_id, retry, idempotency_key="other")
    assert caught.value.reason == "ALREADY_RETRIED"
    assert caught.value.successor_task_id == child.task.id


def test_a_dossier_is_read_previewed_settled_and_contradicted(orbit):
    task_id = submit(orbit, key="submitted")
    taken = claim(orbit)
    orbit.client.unknown(taken.attempt_id, lease_token=taken.lease_token)
    dossier = orbit.client.get_dossier(task_id)
    review = Review(
        expected_revision=dossier.task.revision,
        reason="looked",
        evidence_ref="evidence:1",
        execution_settled=True,
        outcome="FAILED",
        result=1,
        expected_dossier_digest=dossier.dossier_digest,
    )
    question = ReceiptQuestion(operation="task.review", target_id=task_id)

    preview = orbit.client.preview_review(task_id, review)
    unseen = orbit.client.look_up_receipt(question, idempotency_key="r")
    done = orbit.client.review_task(task_id, review, idempotency_key="r")
    seen = orbit.client.look_up_receipt(question, idempotency_key="r")

    assert dossier.task.payload.excerpt == EXACT
    assert [it.outcome for it in dossier.attempts] == ["UNKNOWN"]
    assert preview.allowed
    detail = orbit.client.get_operation(task_id, done.audit_id)
    assert preview.after.decode() == detail.after.decode()
    assert detail.after.decode()["dossier_digest"] == dossier.dossier_digest
    assert (unseen.verdict, seen.verdict) == ("NEVER_SEEN", "COMMITTED")
    assert seen.audit_id == done.audit_id
    with pytest.raises(StateConflict):
        orbit.client.succeed(taken.attempt_id, lease_token=taken.lease_token, result=2)
    (contradiction,) = orbit.client.list_contradictions(task_id=task_id).items
    assert (contradiction.declared, contradiction.claimed) == ("FAILED", "SUCCEEDED")
    assert contradiction.audit_id == done.audit_id
    refused = orbit.client.preview_review(task_id, review)
    assert (refused.allowed, refused.refusal["reason"]) == (False, "STATE")
    retry = Retry(
        expected_revision="4",
        reason="safe",
        evidence_ref="evidence:2",
        safe_to_retry=True,
        task_timeout_ms=60_000,
    )
    assert orbit.client.preview_retry(task_id, retry).child["retry_of"] == task_id
    child = orbit.client.retry_task(task_id, retry, idempotency_key="t").task
    line = orbit.client.get_lineage(child.id)
    assert [it.id for it in line.items] == [task_id, child.id]


def test_how_recovery_stands_is_told_in_numbers(orbit):
    before = orbit.client.get_recovery_slo(window_hours=1)
    waiting, settled = (submit(orbit, key=key) for key in ("a", "b"))
    for taken in (claim(orbit), claim(orbit)):
        orbit.client.unknown(taken.attempt_id, lease_token=taken.lease_token)
        last = taken
    orbit.client.review_task(
        last.task.id,
        Review(
            expected_revision=orbit.client.get_task(last.task.id).revision,
            reason="looked",
            evidence_ref="evidence:1",
            execution_settled=True,
            outcome="FAILED",
            result=1,
        ),
        idempotency_key=last.task.id,
    )
    with pytest.raises(StateConflict):
        orbit.client.succeed(last.attempt_id, lease_token=last.lease_token, result=2)

    after = orbit.client.get_recovery_slo(window_hours=1)

    assert {waiting, settled} > {last.task.id}
    assert after.window_hours == 1
    assert after.needs_review.tasks == before.needs_review.tasks + 1
    assert after.needs_review.oldest is not None
    assert after.queues[0].quota_held == after.needs_review.tasks
    assert after.inflow.last_hour == before.inflow.last_hour + 2
    assert after.settled.last_day == before.settled.last_day + 1
    assert after.contradictions.last_hour == before.contradictions.last_hour + 1
    assert after.time_to_settle.p50_ms is not None


def test_a_review_of_an_older_dossier_says_what_is_new(orbit):
    task_id = submit(orbit)
    taken = claim(orbit)
    orbit.client.unknown(taken.attempt_id, lease_token=taken.lease_token)
    dossier = orbit.client.get_dossier(task_id)
    with pytest.raises(StateConflict):
        orbit.client.succeed(taken.attempt_id, lease_token=taken.lease_token, result=2)
    review = Review(
        expected_revision=dossier.task.revision,
        reason="looked",
        evidence_ref="evidence:1",
        execution_settled=True,
        outcome="FAILED",
        result=1,
        expected_dossier_digest=dossier.dossier_digest,
    )

    with pytest.raises(StateConflict) as caught:
        orbit.client.review_task(task_id, review, idempotency_key="r")

    assert caught.value.reason == "DOSSIER_CHANGED"
    assert [it["kind"] for it in caught.value.new_evidence] == ["succeed"]
    now = orbit.client.get_dossier(task_id)
    assert caught.value.dossier_digest == now.dossier_digest


def test_attempts_and_events_can_be_read(orbit):
    task_id = submit(orbit)
    a_worker(orbit, lambda _: 1).drain()

    (attempt,) = orbit.client.list_attempts(task_id).items
    feed = eventually(lambda: (it := orbit.client.list_events()).items and it)

    assert (attempt.number, attempt.outcome) == (1, "SUCCEEDED")
    assert attempt.worker.name
    bodies = [it.body.decode() for it in feed.items]
    assert {it["task_id"] for it in bodies} == {task_id}
    later = orbit.client.list_events(page=PageRequest(cursor=feed.next_cursor))
    assert later.items == ()
    assert later.next_cursor


def test_a_worker_that_cannot_renew_stops_its_handler_before_expiry(orbit, cable):
    task_id = submit(orbit)
    stopped = {}

    def slow(context):
        cable.cut()
        assert context.cancelled.wait(10)
        stopped["attempt"] = orbit.client.list_attempts(task_id).items[0]
        stopped["expired"] = orbit.reap()
        orbit.reap_until(task_id, "NEEDS_REVIEW")
        cable.mend()
        context.check()

    a_worker(orbit, slow, client=cable.client, lease_ms=1_500).run_once()

    assert stopped["attempt"].outcome == "ACTIVE"
    assert stopped["expired"] == 0
    (attempt,) = orbit.client.list_attempts(task_id).items
    assert [it.kind for it in attempt.evidence] == ["unknown"]


def test_a_late_success_is_kept_as_evidence_and_changes_nothing(orbit, cable):
    task_id = submit(orbit)

    def stubborn(_context):
        cable.cut()
        orbit.reap_until(task_id, "NEEDS_REVIEW")
        cable.mend()
        return "I think it worked"

    a_worker(orbit, stubborn, client=cable.client, lease_ms=1_000).run_once()

    task = orbit.client.get_task(task_id)
    assert (task.state, task.result) == ("NEEDS_REVIEW", None)
    (attempt,) = orbit.client.list_attempts(task_id).items
    assert attempt.outcome == "UNKNOWN"
    (evidence,) = attempt.evidence
    assert evidence.kind == "succeed"
    assert evidence.content.decode()["result"] == "I think it worked"


def test_a_report_is_delivered_when_the_way_to_the_server_is_back(orbit, cable):
    task_id = submit(orbit)

    def work(_context):
        cable.cut()
        threading.Timer(1.5, cable.mend).start()
        return "done"

    a_worker(orbit, work, client=cable.client, lease_ms=30_000).run_once()

    assert orbit.client.get_task(task_id).state == "SUCCEEDED"


def test_a_long_handler_outlives_its_first_lease_by_heartbeats(orbit):
    task_id = submit(orbit)
    expiries = set()

    def slow(context):
        def renewed_twice():
            (attempt,) = orbit.client.list_attempts(task_id).items
            expiries.add(attempt.lease_expires_at)
            return len(expiries) >= 3

        eventually(renewed_twice)
        context.check()
        return "done"

    a_worker(orbit, slow, lease_ms=1_000).run_once()

    assert orbit.client.get_task(task_id).state == "SUCCEEDED"


def test_a_result_too_large_is_refused_and_the_lease_stays_reportable(orbit):
    submit(orbit)
    taken = claim(orbit)
    lease = {"lease_token": taken.lease_token}

    with pytest.raises((InvalidArgument, PayloadTooLarge)):
        orbit.client.succeed(taken.attempt_id, result="x" * (256 * 1024), **lease)

    failed = orbit.client.fail(taken.attempt_id, error=ERROR, retryable=False, **lease)
    assert failed.task.state == "FAILED"


def test_a_worker_ends_a_task_whose_result_is_too_large(orbit):
    task_id = submit(orbit)

    a_worker(orbit, lambda _: "x" * (256 * 1024)).drain()

    (attempt,) = orbit.client.list_attempts(task_id).items
    assert (attempt.outcome, attempt.error.code) == ("FAILED", "RESULT_TOO_LARGE")


def test_a_cancel_request_reaches_the_handler_and_is_acknowledged(orbit):
    task_id = submit(orbit)

    def polite(context):
        orbit.client.cancel_task(task_id, idempotency_key="c")
        assert context.cancel_requested.wait(10)
        raise Cancelled

    a_worker(orbit, polite, lease_ms=1_000).drain()

    assert orbit.client.get_task(task_id).state == "CANCELLED"


def test_a_batch_of_fifty_is_taken_and_reported_together(orbit):
    tasks = [
        a_task(orbit, kind=KeyedTask, idempotency_key=f"k{number}", payload=number)
        for number in range(50)
    ]
    submitted = orbit.client.submit_tasks(tasks).results

    a_worker(orbit, lambda it: it.payload, batch=50, lease_ms=30_000).drain()

    done = [orbit.client.get_task(it.task.id) for it in submitted]
    assert {it.state for it in done} == {"SUCCEEDED"}
    assert [it.result.decode() for it in done] == list(range(50))


def transfer(orbit, *, key="transfer", **more):
    payload = Json(
        '{"from": "a", "to": "b", "amount": 1.10, "sequence": 9007199254740993'
        + "".join(f', "{name}": {text}' for name, text in more.items())
        + "}"
    )
    return submit(orbit, key=key, handler="ledger.transfer", payload=payload)


def test_the_ledger_worker_writes_both_halves_with_the_digits_given(
    orbit, ledger_worker
):
    task_id = transfer(orbit)

    code, printed = ledger_worker.run("--once")

    assert code == 0, printed
    task = orbit.client.get_task(task_id)
    assert task.state == "SUCCEEDED"
    assert '"amount":1.10' in task.result.text
    debit, credit = ledger_worker.ledger.read_text().splitlines()
    assert '"side":"debit","account":"a","amount":1.10' in debit
    assert '"side":"credit","account":"b","amount":1.10' in credit
    _, shown = ledger_worker.run("--show", "9007199254740993")
    assert "complete" in shown


@pytest.mark.parametrize(
    ("moment", "shown"),
    [
        ("before", "nothing was written"),
        ("middle", "HALF: debited, not credited"),
        ("after", "complete"),
    ],
)
def test_a_worker_that_dies_leaves_a_task_for_people(
    orbit, ledger_worker, moment, shown
):
    task_id = transfer(orbit, die=f'"{moment}"')

    code, _ = ledger_worker.run("--once", "--lease-ms", "1000", ORBIT_DEMO_MAY_DIE="1")

    assert code == -signal.SIGKILL
    task = orbit.reap_until(task_id, "NEEDS_REVIEW")
    assert task.effect_uncertain is True
    assert shown in ledger_worker.run("--show", "9007199254740993")[1]


@pytest.mark.parametrize(
    ("moment", "effect"),
    [("before", "NOT_APPLIED"), ("middle", "UNKNOWN"), ("after", "APPLIED")],
)
def test_the_probe_says_what_became_of_the_money(orbit, ledger_worker, moment, effect):
    task_id = transfer(orbit, die=f'"{moment}"')
    ledger_worker.run("--once", "--lease-ms", "1000", ORBIT_DEMO_MAY_DIE="1")
    orbit.reap_until(task_id, "NEEDS_REVIEW")

    probe = orbit.client.start_probe(task_id, idempotency_key="probe").task
    code, printed = ledger_worker.run("--once")

    assert code == 0, printed
    assert orbit.client.get_task(probe.id).state == "SUCCEEDED"
    [evidence] = orbit.client.get_dossier(task_id).evidence.items
    assert evidence.kind == "probe"
    found = json.loads(evidence.content.excerpt)
    assert found["effect"] == effect
    assert found["evidence_ref"] == "ledger:sequence-9007199254740993"
    assert orbit.client.get_task(task_id).state == "NEEDS_REVIEW"


def test_the_child_of_a_retry_gets_through_where_its_source_died(orbit, ledger_worker):
    task_id = transfer(orbit, die='"before"')
    dying = {"ORBIT_DEMO_MAY_DIE": "1"}
    ledger_worker.run("--once", "--lease-ms", "1000", **dying)
    task = orbit.reap_until(task_id, "NEEDS_REVIEW")
    review = Review(
        expected_revision=task.revision,
        reason="nothing was written",
        evidence_ref="ledger:9007199254740993",
        execution_settled=True,
        outcome="FAILED",
        result={"entries": 0},
    )
    failed = orbit.client.review_task(task_id, review, idempotency_key="r").task
    retry = Retry(
        expected_revision=failed.revision,
        reason="nothing was written",
        evidence_ref="ledger:9007199254740993",
        safe_to_retry=True,
        task_timeout_ms=120_000,
    )
    child = orbit.client.retry_task(task_id, retry, idempotency_key="t").task

    code, printed = ledger_worker.run("--once", **dying)

    assert code == 0, printed
    assert orbit.client.get_task(child.id).state == "SUCCEEDED"


def test_a_worker_killed_by_hand_in_the_middle_leaves_a_half_transfer(
    orbit, ledger_worker
):
    task_id = transfer(orbit, sleep_ms="60000")
    process = ledger_worker.start("--lease-ms", "1000")
    eventually(ledger_worker.ledger.exists)

    os.kill(process.pid, signal.SIGKILL)
    process.communicate()

    orbit.reap_until(task_id, "NEEDS_REVIEW")
    assert "HALF" in ledger_worker.run("--show", "9007199254740993")[1]


def test_a_frozen_worker_finds_its_lease_gone_and_writes_no_second_half(
    orbit, ledger_worker
):
    task_id = transfer(orbit, sleep_ms="2000")
    process = ledger_worker.start("--once", "--lease-ms", "1000")
    eventually(ledger_worker.ledger.exists)

    os.kill(process.pid, signal.SIGSTOP)
    orbit.reap_until(task_id, "NEEDS_REVIEW")
    os.kill(process.pid, signal.SIGCONT)
    process.communicate(timeout=30)

    assert "HALF" in ledger_worker.run("--show", "9007199254740993")[1]
    (attempt,) = orbit.client.list_attempts(task_id).items
    assert [it.kind for it in attempt.evidence] == ["unknown"]


def test_a_terminated_worker_finishes_what_it_has_begun(orbit, ledger_worker):
    task_id = transfer(orbit, sleep_ms="500")
    process = ledger_worker.start()
    eventually(ledger_worker.ledger.exists)

    process.terminate()
    process.communicate(timeout=30)

    assert process.returncode == 0
    assert orbit.client.get_task(task_id).state == "SUCCEEDED"
