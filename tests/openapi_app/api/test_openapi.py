"""The OpenAPI document says what the open job API does, and it does what it says."""

import json
from pathlib import Path

import pytest
import schemathesis
from django.core.management import call_command
from django.test import Client
from django.urls import get_resolver
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi import checks

from openapi_app.api.document import document
from orbit.wsgi import application

SNAPSHOT = Path(__file__).parents[3] / "docs" / "openapi" / "open-jobs-v1.yaml"
GENERATE = (
    "manage.py spectacular --custom-settings openapi_app.api.document.SETTINGS"
    " --validate --fail-on-warn --file docs/openapi/open-jobs-v1.yaml"
)
EXAMPLES = 12


def described():
    """Each operation object with its method and path."""
    for path, calls in document()["paths"].items():
        for method, operation in calls.items():
            yield method, path, operation


CALLS = {operation["operationId"]: operation for *_, operation in described()}


def test_the_snapshot_is_what_the_code_generates(tmp_path):
    generated = tmp_path / "open-jobs-v1.yaml"
    call_command(
        "spectacular",
        custom_settings="openapi_app.api.document.SETTINGS",
        validate=True,
        fail_on_warn=True,
        file=str(generated),
    )
    assert SNAPSHOT.read_text() == generated.read_text(), f"run {GENERATE}"


def test_the_document_is_served_to_everybody():
    answer = Client().get("/openapi/v1/openapi.json")

    assert answer.status_code == 200
    assert json.loads(answer.content) == json.loads(json.dumps(document()))
    assert document()["openapi"].startswith("3.1")
    assert "nullable" not in json.dumps(document())


def test_every_call_is_described_and_nothing_else():
    (mine,) = [
        it for it in get_resolver().url_patterns if str(it.pattern) == "openapi/v1/"
    ]
    views = [it.callback.view_class for it in mine.url_patterns]
    methods = [len(it.operations) for it in views if hasattr(it, "operations")]

    assert sum(methods) == len(list(described())) == 6
    assert set(CALLS) == {
        "list_jobs",
        "get_job",
        "trigger_job",
        "list_executions",
        "get_execution",
        "get_token",
    }


def test_every_call_needs_a_token_and_names_scope_errors_and_headers():
    for _, _, operation in described():
        assert operation["security"] == [{"jobToken": []}]
        assert "Scope: " in operation["description"]
        assert {"400", "401", "429", "500", "503"} <= set(operation["responses"])
        for answer in operation["responses"].values():
            assert "X-Request-Id" in answer["headers"]


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.django_db(transaction=True)
def test_whatever_is_sent_is_answered_as_documented(place, name):
    job = place.job()
    caller = place.caller(job, reads_per_minute=100_000, triggers_per_minute=100_000)
    execution = caller.trigger(job).id
    schema = schemathesis.openapi.from_wsgi("/openapi/v1/openapi.json", application)
    operation = schema.find_operation_by_id(name)
    headers = {"Authorization": f"Bearer {caller.token}"}
    ids = {"job_id": job.id.hex, "execution_id": execution}

    @settings(
        max_examples=EXAMPLES,
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(
        case=st.one_of(
            operation.as_strategy(generation_mode=GenerationMode.POSITIVE),
            operation.as_strategy(generation_mode=GenerationMode.NEGATIVE),
        )
    )
    def examine(case):
        for parameter in set(case.path_parameters) & set(ids):
            case.path_parameters[parameter] = ids[parameter]
        # Waiting is tried elsewhere.
        if str(case.query.get("wait_seconds", 0)).isdecimal():
            case.query.pop("wait_seconds", None)
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

    examine()
