"""Who may call what: every operation with every kind of caller."""

from datetime import timedelta

import pytest
from django.urls import get_resolver

from tasks_app.api.urls import urlpatterns
from tasks_app.models import Application
from tests.builders import (
    EVERY_SCOPE,
    a_queue,
    a_token,
    an_application,
    every_row,
)
from tests.tasks_app.api.calls import Caller, a_submit
from tests.tasks_app.api.operations import OPERATIONS, a_scene, elsewhere
from tests.tokens_app import builders as tokens
from tokens_app.domain.secret import new_token
from tokens_app.public import revoke_token, suspend_token

pytestmark = pytest.mark.django_db


def revoked(queue):
    token = a_token(queue)
    revoke_token(token_id=token.token_id, by=tokens.SOMEBODY, reason="left")
    return Caller(token)


def suspended(queue):
    token = a_token(queue)
    suspend_token(token_id=token.token_id, by=tokens.SOMEBODY, reason="odd")
    return Caller(token)


def expired(queue):
    token = a_token(queue)
    tokens.age(token.token_id, by=timedelta(days=31))
    return Caller(token)


def disabled(queue):
    token = a_token(queue)
    Application.objects.filter(id=queue.application_id).update(is_enabled=False)
    return Caller(token)


STRANGERS = {
    "no token": lambda _queue: Caller(),
    "malformed": lambda _queue: Caller(authorization="Bearer fta_short"),
    "basic": lambda _queue: Caller(authorization="Basic dXNlcjpwYXNz"),
    "unknown": lambda _queue: Caller(new_token("TASKS")),
    "other audience": lambda _queue: Caller(new_token("OPEN_JOBS")),
    "expired": expired,
    "revoked": revoked,
    "suspended": suspended,
    "disabled application": disabled,
}

# Only the holder of the right secret is told.
REASONS = {
    "expired": "token_expired",
    "revoked": "token_revoked",
    "suspended": "token_suspended",
    "disabled application": "application_disabled",
}


def test_the_table_has_every_path_of_the_api():
    # The description of the API is for everybody.
    paths = {str(entry.pattern) for entry in urlpatterns} - {"openapi.json"}

    # The document is open to everybody; GET and POST share /v1/tasks.
    assert len(OPERATIONS) == len(paths - {"openapi.json"}) + 1
    assert get_resolver().resolve("/v1/tasks")


@pytest.mark.parametrize("stranger", STRANGERS)
def test_a_caller_without_a_good_token_is_challenged_everywhere(stranger):
    scene = a_scene()
    caller = STRANGERS[stranger](scene.queue)
    before = every_row()

    for name, operation in OPERATIONS.items():
        answer = operation.call(caller, scene)
        assert (answer.status, answer.error["code"]) == (401, "UNAUTHENTICATED"), name
        assert answer.headers["WWW-Authenticate"] == "Bearer", name
        assert answer.error.get("reason") == REASONS.get(stranger), name

    assert every_row() == before


@pytest.mark.parametrize("scope", EVERY_SCOPE)
def test_a_permission_opens_its_own_operations_and_no_other(scope):
    scene = a_scene()
    caller = Caller(a_token(scene.queue, scopes=(scope,)))
    before = every_row()

    for name, operation in OPERATIONS.items():
        if operation.scope == scope:
            continue
        answer = operation.call(caller, scene)
        assert (answer.status, answer.error["code"]) == (403, "PERMISSION_DENIED"), name
        assert answer.error["required_permission"] == operation.scope

    assert every_row() == before


@pytest.mark.parametrize("name", OPERATIONS)
def test_the_right_permission_alone_is_enough(name):
    operation = OPERATIONS[name]
    scene = a_scene()
    caller = Caller(a_token(scene.queue, scopes=(operation.scope,)))

    answer = operation.call(caller, scene)

    assert answer.status == operation.status, answer.text
    assert answer.data


@pytest.mark.parametrize("foreign", ["other queue", "no queue", "other namespace"])
def test_what_is_out_of_reach_looks_as_if_it_were_not_there(foreign):
    scene = a_scene()
    application = Application.objects.get(id=scene.queue.application_id)
    neighbour = a_queue(application=application)
    token = {
        "other queue": lambda: a_token(neighbour),
        "no queue": lambda: a_token(scene.queue, queue_ids=()),
        "other namespace": lambda: a_token(
            scene.queue,
            namespace_id=an_application().namespace_id,
            application_id=None,
        ),
    }[foreign]()
    caller = Caller(token)
    before = every_row()

    for name, operation in OPERATIONS.items():
        if not operation.on_one_thing:
            continue
        answer = operation.call(caller, scene)
        nothing = operation.call(caller, elsewhere(scene))
        assert (answer.status, answer.error["code"]) == (404, "NOT_FOUND"), name
        assert answer.error == nothing.error, name
        assert answer.status == nothing.status

    assert every_row() == before


def test_lists_and_batches_show_nothing_out_of_reach():
    scene = a_scene()
    caller = Caller(a_token(a_queue(), queue_ids=()))

    assert OPERATIONS["list_tasks"].call(caller, scene).data == {"items": []}
    [submitted] = OPERATIONS["submit_tasks"].call(caller, scene).data["results"]
    assert (submitted["status"], submitted["error"]["code"]) == (404, "NOT_FOUND")
    [reported] = OPERATIONS["report_attempts"].call(caller, scene).data["results"]
    assert (reported["status"], reported["error"]["code"]) == (404, "NOT_FOUND")


def test_reading_a_task_is_not_reading_its_audit():
    scene = a_scene()
    caller = Caller(a_token(scene.queue, scopes=("tasks:read",)))

    assert OPERATIONS["get_task"].call(caller, scene).status == 200
    assert OPERATIONS["list_operations"].call(caller, scene).status == 403
    assert OPERATIONS["get_operation"].call(caller, scene).status == 403


@pytest.mark.parametrize("name", ["review_task", "retry_task", "cancel_task"])
def test_a_permission_that_was_taken_away_comes_before_any_receipt(name, monkeypatch):
    scene = a_scene()
    operation = OPERATIONS[name]
    post = Caller.post
    monkeypatch.setattr(
        Caller, "post", lambda *given, **named: post(*given, **{**named, "key": "k"})
    )
    assert operation.call(Caller(a_token(scene.queue)), scene).status < 300
    scopes = tuple(scope for scope in EVERY_SCOPE if scope != operation.scope)

    answer = operation.call(Caller(a_token(scene.queue, scopes=scopes)), scene)
    replay = operation.call(Caller(a_token(scene.queue)), scene)

    assert answer.status == 403
    assert replay.data["deduplicated"] is True


def test_a_task_for_an_owner_needs_the_permission_to_own():
    scene = a_scene()
    caller = Caller(a_token(scene.queue, scopes=("tasks:submit",)))
    owner = Caller(a_token(scene.queue, scopes=("tasks:submit", "tasks:own")))
    owned = {"owner": {"kind": "WORKFLOW", "id": "7" * 32}}
    before = every_row()

    for members in (owned, {"gated": True}, {**owned, "gated": True}):
        answer = caller.post("tasks", a_submit(scene.queue, **members))
        assert answer.status == 403
        assert answer.error["required_permission"] == "tasks:own"
    entry = a_submit(scene.queue, idempotency_key="k", **owned)
    [result] = caller.post("tasks:batch", {"tasks": [entry]}, key=None).data["results"]
    assert (result["status"], result["error"]["code"]) == (403, "PERMISSION_DENIED")
    assert every_row() == before

    task = owner.post("tasks", a_submit(scene.queue, **owned, gated=True)).data["task"]
    assert task["owner"] == owned["owner"]
    assert task["gated"] is True
