"""The OpenAPI document says what /v1 does, and /v1 does what it says."""

import json
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from django.core.management import call_command
from django.test import Client
from django.urls import get_resolver
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.parameters import ParameterLocation
from schemathesis.specs.openapi import checks

from orbit.wsgi import application
from orbit_sdk import Client as SDKClient
from tasks_app.api.document import document
from tasks_app.api.operations import OPERATIONS
from tests.builders import EVERY_SCOPE, a_lease, a_queue, a_task, a_token
from tests.tasks_app.api import contract

SNAPSHOT = Path(__file__).parents[3] / "docs" / "openapi" / "tasks-v1.yaml"
CALLS = {operation.id: operation for operation in OPERATIONS.values()}
WRITES = [name for name, operation in CALLS.items() if operation.body is not None]
EXAMPLES = 12


def described():
    """Each operation object with its method and path."""
    for path, calls in document()["paths"].items():
        for method, operation in calls.items():
            yield method, path, operation


def test_the_snapshot_is_what_the_code_generates(tmp_path):
    generated = tmp_path / "tasks-v1.yaml"
    call_command(
        "spectacular",
        custom_settings="tasks_app.api.document.SETTINGS",
        validate=True,
        fail_on_warn=True,
        file=str(generated),
    )
    assert SNAPSHOT.read_text() == generated.read_text(), "run make openapi"


def test_the_document_is_served_to_everybody():
    answer = Client().get("/v1/openapi.json")

    assert answer.status_code == 200
    assert answer.headers["Content-Type"] == "application/json"
    assert json.loads(answer.content) == json.loads(json.dumps(document()))
    assert document()["openapi"].startswith("3.1")
    assert "nullable" not in json.dumps(document())


def test_every_path_of_the_api_is_described():
    paths: Any = get_resolver().url_patterns
    (v1,) = [it for it in paths if str(it.pattern) == "v1/"]
    views = {it.callback.view_class.__name__ for it in v1.url_patterns}

    assert views - {"OpenAPIDocument"} == {view for view, _ in OPERATIONS}
    assert len(list(described())) == len(OPERATIONS)


def test_operations_are_named_as_the_sdk_calls_them():
    methods = {name for name in dir(SDKClient) if not name.startswith("_")}
    assert set(CALLS) <= methods
    assert {"submit_task", "review_task", "retry_task"} <= set(CALLS)


def test_every_operation_needs_a_token_and_names_its_permission_and_errors():
    for method, _, operation in described():
        assert operation["security"] == [{"taskToken": []}]
        assert "Permission: `" in operation["description"]
        wanted = {"400", "401", "403", "500", "503"}
        if method == "post":
            wanted |= {"413", "415"}
        assert wanted <= set(operation["responses"])


@pytest.mark.parametrize("name", CALLS)
def test_examples_follow_their_schemas(name):
    (operation,) = [it for *_, it in described() if it["operationId"] == name]
    bodies = [operation["requestBody"]] if "requestBody" in operation else []
    answers = [it for it in operation["responses"].values() if "content" in it]
    for described_body in bodies + answers:
        content = described_body["content"]["application/json"]
        if "example" in content:
            held = contract.validator(json.dumps(content["schema"]))
            assert [str(it) for it in held.iter_errors(content["example"])] == []


@pytest.fixture
def places():
    """Ids that exist, and a token that may do everything with them."""
    queue = a_queue()
    lease = a_lease(queue=queue)
    return {
        "token": a_token(queue),
        "queue": queue,
        "queue_id": queue.id.hex,
        "task_id": a_task(queue=queue, state="NEEDS_REVIEW").id.hex,
        "attempt_id": lease.attempt_id.hex,
        "audit_id": "0" * 32,
    }


def call(method, path, token=None):
    headers = {"Idempotency-Key": "k"}
    if token:
        headers["Authorization"] = f"Bearer {token.plaintext}"
    if method == "get":
        return Client().get(path, headers=headers)
    return Client().post(path, b"{}", content_type="application/json", headers=headers)


@pytest.mark.django_db(transaction=True)
def test_the_named_permission_is_the_one_that_is_asked_for(places):
    for method, template, operation in described():
        path = template.format(**places)
        permission = CALLS[operation["operationId"]].permission
        others = tuple(scope for scope in EVERY_SCOPE if scope != permission)
        token = a_token(places["queue"], scopes=others)

        stranger, outsider = call(method, path), call(method, path, token)

        assert stranger.status_code == 401
        assert stranger.headers["WWW-Authenticate"] == "Bearer"
        assert outsider.status_code == 403
        error = json.loads(outsider.content)["error"]
        assert error["required_permission"] == permission


@pytest.fixture
def api(places):
    """The document as the running application serves it."""
    schema = schemathesis.openapi.from_wsgi("/v1/openapi.json", application)
    headers = {"Authorization": f"Bearer {places['token'].plaintext}"}
    return schema, headers


def explore(examine, cases, *, examples=EXAMPLES):
    """Let `examine` have some cases, the same ones at every run."""

    @settings(
        max_examples=examples,
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(case=cases)
    def run(case):
        examine(case)

    run()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("name", CALLS)
def test_whatever_is_sent_is_answered_as_documented(api, places, name):
    schema, headers = api
    operation = schema.find_operation_by_id(name)

    def examine(case):
        for parameter in set(case.path_parameters) & set(places):
            case.path_parameters[parameter] = places[parameter]
        if isinstance(case.body, dict) and "queue_id" in case.body:
            case.body["queue_id"] = places["queue_id"]
        case.call_and_validate(
            headers=headers,
            checks=[
                not_a_server_error,
                checks.status_code_conformance,
                checks.content_type_conformance,
                checks.response_headers_conformance,
                checks.response_schema_conformance,
            ],
        )

    explore(
        examine,
        st.one_of(
            operation.as_strategy(generation_mode=GenerationMode.POSITIVE),
            operation.as_strategy(generation_mode=GenerationMode.NEGATIVE),
        ),
    )


# A batch answers 200 with a refusal in each entry's place.
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("name", [name for name in WRITES if name != "submit_tasks"])
def test_a_body_that_breaks_its_schema_is_refused(api, places, name):
    schema, headers = api
    operation = schema.find_operation_by_id(name)

    def examine(case):
        # What is wrong with the path or the token is put right below.
        if case.meta.components[ParameterLocation.BODY].mode.is_positive:
            return
        for parameter in set(case.path_parameters) & set(places):
            case.path_parameters[parameter] = places[parameter]
        case.call_and_validate(
            headers=headers,
            checks=[not_a_server_error, checks.negative_data_rejection],
        )

    explore(examine, operation.as_strategy(generation_mode=GenerationMode.NEGATIVE))


@pytest.mark.parametrize(
    ("status", "text"),
    [
        (418, b'{"request_id":"%s","data":{}}'),
        (200, b'{"request_id":"%s","data":{}}'),
        (200, b'{"request_id":"%s","data":{"items":[]},"more":1}'),
        (200, b'{"request_id":"%s","data":{"items":[],"more":1}}'),
        (401, b'{"request_id":"%s","error":{"code":"NOT_FOUND","message":"m"}}'),
    ],
)
def test_the_suite_would_notice_an_undocumented_answer(status, text):
    headers = {"Content-Type": "application/json", "X-Request-Id": "0" * 32}
    headers["WWW-Authenticate"] = "Bearer"
    with pytest.raises(contract.Broken):
        contract.hold(
            method="GET",
            path="/v1/tasks",
            status=status,
            headers=headers,
            text=text % (b"0" * 32),
        )
