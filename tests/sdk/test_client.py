"""What the client sends, and what it makes of the answers."""

import asyncio
import datetime as dt
import inspect
import json
import tomllib
from decimal import Decimal
from pathlib import Path

import httpx
import pytest

import orbit_sdk
from orbit_sdk import (
    Approval,
    AsyncClient,
    AttemptError,
    Claim,
    Client,
    HandlerFilter,
    Json,
    KeyedTask,
    NewTask,
    PageRequest,
    Report,
    Retry,
    RetryPolicy,
    Review,
    TaskFilter,
    WorkerIdentity,
    calls,
)
from tests.sdk.bodies import (
    ATTEMPT_ID,
    AUDIT_ID,
    PAYLOAD,
    QUEUE_ID,
    REQUEST_ID,
    TASK_ID,
    bad,
    good,
    task_text,
)

TOKEN = "fta_0123456789_the_secret_of_it"
CALLS = {
    name
    for name, function in inspect.getmembers(calls, inspect.isfunction)
    if function.__module__ == calls.__name__ and not name.startswith("_")
}
TASK = NewTask(
    queue_id=QUEUE_ID,
    handler="ledger.transfer",
    handler_version="v1",
    payload_version="v1",
    payload={"amount": Decimal("1.10"), "sequence": 9007199254740993},
    task_timeout_ms=60_000,
    retry=RetryPolicy(attempt_timeout_ms=10_000),
)


STANDING = f'{{"id": "{TASK_ID}", "state": "WAITING", "revision": "1"}}'


class Network:
    """Answers every request the same way and keeps the last one."""

    def __init__(self, status=200, text="", *, error=None, headers=None):
        self.answer = (status, text)
        self.error = error
        self.headers = headers or {}
        self.requests = []

    def __call__(self, request):
        self.requests.append(request)
        if self.error is not None:
            raise self.error
        status, text = self.answer
        if isinstance(text, dict):
            return httpx.Response(status, json=text, headers=self.headers)
        return httpx.Response(status, text=text, headers=self.headers)

    @property
    def request(self):
        assert len(self.requests) == 1
        return self.requests[0]

    @property
    def body(self):
        return json.loads(self.request.content)


def a_client(network):
    return Client("http://orbit/", TOKEN, transport=httpx.MockTransport(network))


def test_submit_sends_the_exact_payload_under_the_callers_key():
    network = Network(201, good(f'{{"task": {task_text()}, "deduplicated": false}}'))

    receipt = a_client(network).submit_task(TASK, idempotency_key="transfer:7")

    request = network.request
    assert (request.method, request.url.path) == ("POST", "/v1/tasks")
    assert request.headers["Idempotency-Key"] == "transfer:7"
    assert request.headers["Content-Type"] == "application/json"
    assert request.headers["Authorization"] == f"Bearer {TOKEN}"
    assert b'"payload":{"amount":1.10,"sequence":9007199254740993}' in request.content
    assert network.body == {
        "queue_id": QUEUE_ID,
        "handler": "ledger.transfer",
        "handler_version": "v1",
        "payload_version": "v1",
        "payload": {"amount": 1.1, "sequence": 9007199254740993},
        "task_timeout_ms": 60_000,
        "retry": {"attempt_timeout_ms": 10_000},
    }
    assert receipt.request_id == REQUEST_ID
    assert receipt.deduplicated is False
    assert receipt.task.payload.text == PAYLOAD
    assert receipt.task.payload.decode() == {
        "amount": Decimal("1.10"),
        "sequence": 9007199254740993,
        "big": Decimal("1E400"),
    }
    assert receipt.task.result is None
    assert receipt.task.created_at.microsecond == 1


def test_a_batch_has_a_key_and_an_outcome_for_each_task():
    network = Network(
        200,
        good(
            f'{{"results": [{{"status": 201, "task": {STANDING}, '
            '"deduplicated": false}, {"status": 409, "error": {"code": '
            '"IDEMPOTENCY_CONFLICT", "message": "Other content."}}]}'
        ),
    )
    tasks = [
        KeyedTask(
            idempotency_key=f"k{number}",
            queue_id=QUEUE_ID,
            handler="h",
            handler_version="v1",
            payload_version="v1",
            payload=Json("1.0"),
            task_timeout_ms=1,
            retry=RetryPolicy(attempt_timeout_ms=1),
            available_at=dt.datetime(
                2026, 1, 1, 2, tzinfo=dt.timezone(dt.timedelta(hours=2))
            ),
        )
        for number in range(2)
    ]

    created, refused = a_client(network).submit_tasks(tasks).results

    assert network.request.url.path == "/v1/tasks:batch"
    assert "Idempotency-Key" not in network.request.headers
    assert [it["idempotency_key"] for it in network.body["tasks"]] == ["k0", "k1"]
    assert network.body["tasks"][0]["available_at"] == "2026-01-01T00:00:00Z"
    assert b'"payload":1.0' in network.request.content
    assert created.task is not None
    assert created.refusal is None
    assert isinstance(refused.refusal, orbit_sdk.IdempotencyConflict)
    assert refused.task is None


PROPOSED = (
    f'{{"proposal": {{"id": "{TASK_ID}", "task_id": "{TASK_ID}", "state": "OPEN",'
    '"expected_revision": "4", "outcome": "FAILED", "result": 9007199254740993,'
    f'"reason": "looked", "evidence_ref": "evidence:1", "proposed_by": "{TASK_ID}",'
    '"created_at": "2026-01-01T00:00:00Z", "expires_at": "2026-01-02T00:00:00Z"},'
    f'"audit_id": "{TASK_ID}", "deduplicated": false}}'
)
REVIEW = Review(
    expected_revision="4",
    reason="looked",
    evidence_ref="evidence:1",
    execution_settled=True,
    outcome="FAILED",
    result={"sequence": 9007199254740993},
)
RETRY = Retry(
    expected_revision="5",
    reason="looked",
    evidence_ref="evidence:1",
    safe_to_retry=True,
    task_timeout_ms=60_000,
)
CLAIM = Claim(
    worker=WorkerIdentity(name="w", instance_id="a" * 32),
    max_tasks=2,
    lease_ms=1_000,
    handlers=(HandlerFilter(handler="h", handler_version="v1"),),
)
ERROR = AttemptError(code="Broken", message="It broke.")
ONE_TASK = f'{{"task": {task_text(result="1.10")}}}'
RECEIPT = f'{{"task": {task_text()}, "deduplicated": true, "audit_id": "{AUDIT_ID}"}}'
SUMMARY = task_text().replace(f'"payload": {PAYLOAD},', "")


@pytest.mark.parametrize(
    ("call", "path", "body", "data"),
    [
        pytest.param(
            lambda it: it.cancel_task(TASK_ID, idempotency_key="k", reason="why"),
            f"/v1/tasks/{TASK_ID}:cancel",
            {"reason": "why"},
            RECEIPT,
            id="cancel",
        ),
        pytest.param(
            lambda it: it.cancel_task(TASK_ID, idempotency_key="k"),
            f"/v1/tasks/{TASK_ID}:cancel",
            {},
            RECEIPT,
            id="cancel without a reason",
        ),
        pytest.param(
            lambda it: it.review_task(TASK_ID, REVIEW, idempotency_key="k"),
            f"/v1/tasks/{TASK_ID}:review",
            {
                "expected_revision": "4",
                "reason": "looked",
                "evidence_ref": "evidence:1",
                "execution_settled": True,
                "outcome": "FAILED",
                "result": {"sequence": 9007199254740993},
            },
            RECEIPT,
            id="review",
        ),
        pytest.param(
            lambda it: it.propose_review(TASK_ID, REVIEW, idempotency_key="k"),
            f"/v1/tasks/{TASK_ID}:propose-review",
            {
                "expected_revision": "4",
                "reason": "looked",
                "evidence_ref": "evidence:1",
                "execution_settled": True,
                "outcome": "FAILED",
                "result": {"sequence": 9007199254740993},
            },
            PROPOSED,
            id="propose",
        ),
        pytest.param(
            lambda it: it.approve_review(
                TASK_ID,
                Approval(proposal_id=TASK_ID, expected_revision="4"),
                idempotency_key="k",
            ),
            f"/v1/tasks/{TASK_ID}:approve-review",
            {"proposal_id": TASK_ID, "expected_revision": "4"},
            RECEIPT,
            id="approve",
        ),
        pytest.param(
            lambda it: it.withdraw_review(TASK_ID, TASK_ID, idempotency_key="k"),
            f"/v1/tasks/{TASK_ID}:withdraw-review",
            {"proposal_id": TASK_ID},
            PROPOSED,
            id="withdraw",
        ),
        pytest.param(
            lambda it: it.start_probe(TASK_ID, idempotency_key="k"),
            f"/v1/tasks/{TASK_ID}:probe",
            {},
            RECEIPT.replace("{", f'{{"source_task_id": "{TASK_ID}", ', 1),
            id="probe",
        ),
        pytest.param(
            lambda it: it.retry_task(TASK_ID, RETRY, idempotency_key="k"),
            f"/v1/tasks/{TASK_ID}:retry",
            {
                "expected_revision": "5",
                "reason": "looked",
                "evidence_ref": "evidence:1",
                "safe_to_retry": True,
                "task_timeout_ms": 60_000,
            },
            RECEIPT.replace("{", f'{{"source_task_id": "{TASK_ID}", ', 1),
            id="retry",
        ),
        pytest.param(
            lambda it: it.claim_tasks(QUEUE_ID, CLAIM),
            f"/v1/queues/{QUEUE_ID}:claim",
            {
                "worker": {"name": "w", "instance_id": "a" * 32},
                "max_tasks": 2,
                "lease_ms": 1_000,
                "handlers": [{"handler": "h", "handler_version": "v1"}],
            },
            '{"assignments": []}',
            id="claim",
        ),
        pytest.param(
            lambda it: it.heartbeat(ATTEMPT_ID, lease_token="secret"),
            f"/v1/attempts/{ATTEMPT_ID}:heartbeat",
            {"lease_token": "secret"},
            '{"lease_expires_at": "2026-01-01T00:00:00Z", "cancel_requested": false}',
            id="heartbeat",
        ),
        pytest.param(
            lambda it: it.succeed(ATTEMPT_ID, lease_token="secret", result=[1]),
            f"/v1/attempts/{ATTEMPT_ID}:succeed",
            {"lease_token": "secret", "result": [1]},
            ONE_TASK,
            id="succeed",
        ),
        pytest.param(
            lambda it: it.fail(
                ATTEMPT_ID, lease_token="secret", error=ERROR, retryable=False
            ),
            f"/v1/attempts/{ATTEMPT_ID}:fail",
            {
                "lease_token": "secret",
                "error": {"code": "Broken", "message": "It broke."},
                "retryable": False,
            },
            ONE_TASK,
            id="fail",
        ),
        pytest.param(
            lambda it: it.unknown(ATTEMPT_ID, lease_token="secret"),
            f"/v1/attempts/{ATTEMPT_ID}:unknown",
            {"lease_token": "secret"},
            ONE_TASK,
            id="unknown",
        ),
        pytest.param(
            lambda it: it.acknowledge_cancel(ATTEMPT_ID, lease_token="secret"),
            f"/v1/attempts/{ATTEMPT_ID}:cancelled",
            {"lease_token": "secret"},
            ONE_TASK,
            id="acknowledge cancel",
        ),
        pytest.param(
            lambda it: it.report(
                [
                    Report.succeed(
                        attempt_id=ATTEMPT_ID, lease_token="secret", result=None
                    ),
                    Report.cancelled(attempt_id=ATTEMPT_ID, lease_token="secret"),
                ]
            ),
            "/v1/attempts:report",
            {
                "reports": [
                    {
                        "attempt_id": ATTEMPT_ID,
                        "kind": "succeed",
                        "lease_token": "secret",
                        "result": None,
                    },
                    {
                        "attempt_id": ATTEMPT_ID,
                        "kind": "cancelled",
                        "lease_token": "secret",
                    },
                ]
            },
            '{"results": []}',
            id="report",
        ),
    ],
)
def test_each_write_has_the_shape_of_the_contract(call, path, body, data):
    network = Network(200, good(data))

    answer = call(a_client(network))

    assert (network.request.method, network.request.url.path) == ("POST", path)
    assert network.body == body
    assert answer.request_id == REQUEST_ID


def page_of(item: str) -> str:
    return f'{{"items": [{item}], "next_cursor": "more"}}'


@pytest.mark.parametrize(
    ("call", "path", "query", "data"),
    [
        (
            lambda it: it.list_tasks(
                TaskFilter(state="NEEDS_REVIEW"), page=PageRequest(limit=5, cursor="c=")
            ),
            "/v1/tasks",
            {"state": "NEEDS_REVIEW", "limit": "5", "cursor": "c="},
            page_of(SUMMARY),
        ),
        (
            lambda it: it.list_operations(TASK_ID),
            f"/v1/tasks/{TASK_ID}/operations",
            {},
            page_of(
                f'{{"id": "{AUDIT_ID}", "task_id": "{TASK_ID}", "operation_id": "9", '
                '"actor_id": "a", "action": "task.retry", '
                '"created_at": "2026-09-17T00:00:30Z"}'
            ),
        ),
    ],
)
def test_lists_are_pages_and_take_no_key(call, path, query, data):
    network = Network(200, good(data))

    page = call(a_client(network))

    assert (network.request.method, network.request.url.path) == ("GET", path)
    assert dict(network.request.url.params) == query
    assert "Idempotency-Key" not in network.request.headers
    assert len(page.items) == 1
    assert (page.next_cursor, page.request_id) == ("more", REQUEST_ID)


def test_an_operation_has_its_before_and_after():
    detail = (
        f'{{"id": "{AUDIT_ID}", "task_id": "{TASK_ID}", "operation_id": "9", '
        '"actor_id": "a", "action": "task.retry", '
        '"created_at": "2026-09-17T00:00:30Z", "reason": "looked", '
        '"before": {"revision": "5"}, "after": {"task_timeout_ms": 60000}}'
    )
    network = Network(200, good(detail))

    operation = a_client(network).get_operation(TASK_ID, AUDIT_ID)

    assert network.request.url.path == f"/v1/tasks/{TASK_ID}/operations/{AUDIT_ID}"
    assert operation.before.decode() == {"revision": "5"}
    assert operation.after.decode() == {"task_timeout_ms": 60_000}
    assert operation.request_id == REQUEST_ID


@pytest.mark.parametrize(
    ("status", "code", "kind"),
    [
        (400, "INVALID_ARGUMENT", orbit_sdk.InvalidArgument),
        (401, "UNAUTHENTICATED", orbit_sdk.Unauthenticated),
        (403, "PERMISSION_DENIED", orbit_sdk.PermissionDenied),
        (404, "NOT_FOUND", orbit_sdk.NotFound),
        (409, "STATE_CONFLICT", orbit_sdk.StateConflict),
        (409, "IDEMPOTENCY_CONFLICT", orbit_sdk.IdempotencyConflict),
        (413, "BODY_TOO_LARGE", orbit_sdk.PayloadTooLarge),
        (415, "UNSUPPORTED_MEDIA_TYPE", orbit_sdk.UnsupportedMediaType),
        (429, "QUEUE_FULL", orbit_sdk.QueueFull),
        (429, "APPLICATION_FULL", orbit_sdk.ApplicationFull),
        (500, "INTERNAL", orbit_sdk.Internal),
        (503, "UNAVAILABLE", orbit_sdk.Unavailable),
        (413, "OF_A_LATER_VERSION", orbit_sdk.PayloadTooLarge),
        (418, "OF_A_LATER_VERSION", orbit_sdk.Refused),
    ],
)
def test_each_refusal_has_its_own_exception(status, code, kind):
    network = Network(status, bad(code))

    with pytest.raises(orbit_sdk.Refused) as caught:
        a_client(network).submit_task(TASK, idempotency_key="k")

    assert type(caught.value) is kind
    assert (caught.value.code, caught.value.status) == (code, status)
    assert caught.value.request_id == REQUEST_ID
    assert caught.value.outcome_unknown is (status >= 500)
    assert len(network.requests) == 1


def test_a_conflict_tells_what_the_next_step_needs():
    conflict = {
        "reason": "ALREADY_RETRIED",
        "state": "FAILED",
        "revision": "5",
        "audit_id": AUDIT_ID,
        "successor_task_id": TASK_ID,
    }
    network = Network(409, bad("STATE_CONFLICT", **conflict))

    with pytest.raises(orbit_sdk.StateConflict) as caught:
        a_client(network).retry_task(TASK_ID, RETRY, idempotency_key="k")

    error = caught.value
    assert error.details == conflict
    assert (error.reason, error.state, error.revision) == (
        "ALREADY_RETRIED",
        "FAILED",
        "5",
    )
    assert (error.audit_id, error.successor_task_id) == (AUDIT_ID, TASK_ID)


def test_back_pressure_tells_when_to_ask_again():
    network = Network(429, bad("QUEUE_FULL", retry_after_ms=1500))

    with pytest.raises(orbit_sdk.QueueFull) as caught:
        a_client(network).submit_task(TASK, idempotency_key="k")

    assert caught.value.retry_after_ms == 1500


@pytest.mark.parametrize(
    ("error", "kind", "unknown"),
    [
        (httpx.ConnectError("refused"), orbit_sdk.NotSent, False),
        (httpx.ConnectTimeout("slow"), orbit_sdk.NotSent, False),
        (httpx.PoolTimeout("busy"), orbit_sdk.NotSent, False),
        (httpx.ReadTimeout("slow"), orbit_sdk.AnswerLost, True),
        (httpx.ReadError("reset"), orbit_sdk.AnswerLost, True),
        (httpx.WriteError("reset"), orbit_sdk.AnswerLost, True),
        (httpx.RemoteProtocolError("closed"), orbit_sdk.AnswerLost, True),
    ],
)
def test_a_lost_answer_leaves_a_write_in_doubt_and_is_not_sent_again(
    error, kind, unknown
):
    network = Network(error=error)

    with pytest.raises(kind) as caught:
        a_client(network).submit_task(TASK, idempotency_key="k")

    assert caught.value.outcome_unknown is unknown
    assert caught.value.request_id is None
    assert len(network.requests) == 1


@pytest.mark.parametrize(
    "ask",
    [
        lambda it: it.get_task(TASK_ID),
        lambda it: it.get_dossier(TASK_ID),
        lambda it: it.preview_review(TASK_ID, REVIEW),
        lambda it: it.preview_retry(TASK_ID, RETRY),
        lambda it: it.look_up_receipt(
            orbit_sdk.ReceiptQuestion(operation="task.review", target_id=TASK_ID),
            idempotency_key="k",
        ),
    ],
)
def test_a_lost_answer_to_a_question_leaves_nothing_in_doubt(ask):
    with pytest.raises(orbit_sdk.AnswerLost) as caught:
        ask(a_client(Network(error=httpx.ReadTimeout("slow"))))

    assert caught.value.outcome_unknown is False


@pytest.mark.parametrize(
    ("status", "text", "unknown"),
    [
        (502, "<html>Bad Gateway</html>", True),
        (404, "<html>Not Found</html>", False),
        (302, "", True),
        (200, "<html>Welcome</html>", True),
        (200, good('{"task": 7}'), True),
        (400, '{"request_id": "x", "error": 7}', False),
    ],
)
def test_an_answer_that_is_not_orbits_is_named_so(status, text, unknown):
    network = Network(status, text, headers={"X-Request-Id": "abc"})

    with pytest.raises(orbit_sdk.UnreadableAnswer) as caught:
        a_client(network).submit_task(TASK, idempotency_key="k")

    assert caught.value.outcome_unknown is unknown
    assert caught.value.request_id == "abc"


@pytest.mark.parametrize("key", ["", "a b", "a\r\nX: y", "é", "a" * 129])
def test_a_key_that_cannot_be_one_is_refused_before_anything_is_sent(key):
    network = Network()

    with pytest.raises(ValueError, match="idempotency key"):
        a_client(network).submit_task(TASK, idempotency_key=key)

    assert network.requests == []


@pytest.mark.parametrize("task_id", ["", "../tasks", TASK_ID.upper() + "A", "x" * 32])
def test_an_id_that_cannot_be_one_is_refused_before_anything_is_sent(task_id):
    network = Network()

    with pytest.raises(ValueError, match="32 lower-case hex"):
        a_client(network).get_task(task_id)

    assert network.requests == []


def test_the_token_and_other_secrets_are_in_no_repr_and_no_error():
    network = Network(error=httpx.ReadTimeout("slow"))
    client = a_client(network)
    asynchronous = AsyncClient("http://orbit", TOKEN)
    said = Report.cancelled(attempt_id=ATTEMPT_ID, lease_token="lease-secret")

    with pytest.raises(orbit_sdk.AnswerLost) as caught:
        client.submit_task(TASK, idempotency_key="key-secret")

    shown = [
        repr(client),
        repr(asynchronous),
        repr(caught.value),
        str(caught.value),
        repr(said),
        repr(calls.report([said])),
        repr(calls.submit_task(TASK, idempotency_key="key-secret")),
    ]
    for text in shown:
        assert TOKEN not in text
        assert "secret" not in text


@pytest.mark.parametrize("token", ["", "a b", "a\nb", "é"])
def test_a_token_that_cannot_be_one_is_refused_without_being_shown(token):
    with pytest.raises(ValueError, match="token") as caught:
        Client("http://orbit", token)

    assert token == "" or token not in str(caught.value)


def test_the_version_told_to_the_server_is_the_packages_own():
    project = Path(orbit_sdk.__file__).parents[1] / "pyproject.toml"
    version = tomllib.loads(project.read_text())["project"]["version"]
    network = Network(200, good(task_text()))

    a_client(network).get_task(TASK_ID)

    assert network.request.headers["User-Agent"] == f"orbit-sdk/{version}"


def test_both_clients_offer_every_call():
    for client in (Client, AsyncClient):
        offered = {name for name in vars(client) if not name.startswith("_")}
        assert offered >= CALLS
        for name in CALLS:
            described = inspect.signature(getattr(calls, name))
            method = inspect.signature(getattr(client, name))
            assert list(method.parameters)[1:] == list(described.parameters)
            assert getattr(client, name).__doc__ == getattr(calls, name).__doc__


def test_the_awaited_client_does_the_same():
    network = Network(201, good(f'{{"task": {task_text()}, "deduplicated": true}}'))

    async def submit():
        async with AsyncClient(
            "http://orbit", TOKEN, transport=httpx.MockTransport(network)
        ) as client:
            return await client.submit_task(TASK, idempotency_key="k")

    receipt = asyncio.run(submit())

    assert receipt.deduplicated is True
    assert receipt.request_id == REQUEST_ID
    assert network.request.headers["Idempotency-Key"] == "k"
