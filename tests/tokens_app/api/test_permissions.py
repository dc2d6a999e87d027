"""Who may make which call: every operation against everybody."""

import pytest
from django.urls import get_resolver

from tests.tokens_app.api.builders import Person, a_person, a_user, issue_body
from tests.tokens_app.builders import row_of
from tokens_app.api import urls
from tokens_app.models import ServiceAccountToken, TokenAudit

VIEW = "tokens_app.view_serviceaccounttoken"
PERMISSIONS = (
    VIEW,
    "tokens_app.view_tokenaudit",
    "tokens_app.issue_token",
    "tokens_app.edit_token",
    "tokens_app.rotate_token",
    "tokens_app.suspend_token",
    "tokens_app.revoke_token",
)
(AUDIT, ISSUE, EDIT, ROTATE, SUSPEND, REVOKE) = PERMISSIONS[1:]
WHY = {"reason": "odd traffic"}
ROTATION = {"expected_rotation_count": 0, "reason": "routine"}

# method, path, body, the permissions that open it, the status then
OPERATIONS = [
    ("GET", "/tokens", None, {VIEW}, 200),
    ("GET", "/tokens/{id}", None, {VIEW}, 200),
    ("GET", "/tokens/{id}/samples", None, {VIEW}, 200),
    ("GET", "/tokens/{id}/reach", None, {VIEW}, 200),
    ("GET", "/tokens/{id}/usage", None, {VIEW}, 200),
    ("GET", "/tokens/{id}/calls", None, {VIEW}, 200),
    ("GET", "/tokens/{id}/executions", None, {VIEW}, 200),
    ("GET", "/tokens/{id}/audit", None, {AUDIT}, 200),
    ("POST", "/tokens", "issue", {ISSUE}, 201),
    ("PATCH", "/tokens/{id}", {"description": "new"}, {EDIT}, 200),
    ("POST", "/tokens/{id}:rotate", ROTATION, {ROTATE}, 200),
    ("POST", "/tokens/{id}:suspend", WHY, {SUSPEND}, 200),
    ("POST", "/tokens/{id}:resume", WHY, {SUSPEND}, 200),
    ("POST", "/tokens/{id}:revoke", WHY, {REVOKE}, 200),
    ("POST", "/range:preview", "preview", {ISSUE, EDIT}, 200),
    ("GET", "/range/choices?audience=OPEN_JOBS&namespace_id={ns}", None,
     {ISSUE, EDIT}, 200),
    ("GET", "/namespaces", None, {ISSUE, EDIT}, 200),
]  # fmt: skip


def standing():
    """What a write would change."""
    tokens = ServiceAccountToken.objects.order_by("id").values()
    return list(tokens), TokenAudit.objects.count()


def everybody(own_rights):
    """Each caller with the permissions that they hold."""
    yield "anonymous", Person(), None
    yield "plain staff", a_person(*own_rights), set()
    yield "no staff", a_person(*PERMISSIONS, *own_rights, is_staff=False), set()
    yield "superuser", a_person(is_superuser=True), set(PERMISSIONS)
    for name in PERMISSIONS:
        yield name, a_person(name, *own_rights), {name}


@pytest.mark.parametrize(
    ("method", "path", "body", "opens", "status"),
    OPERATIONS,
    ids=[f"{method} {path.partition('?')[0]}" for method, path, *_ in OPERATIONS],
)
def test_only_those_with_the_permission_may(place, method, path, body, opens, status):
    job = place.job()
    for who, person, held in everybody(("openapi_app.run_job", "openapi_app.view_job")):
        issued = place.token(job)
        if path.endswith(":resume"):
            ServiceAccountToken.objects.filter(id=issued.token_id).update(
                status="SUSPENDED"
            )
        sent = issue_body(place, job) if body == "issue" else body
        if body == "preview":
            asked = issue_body(place, job)
            sent = {
                name: asked[name]
                for name in ("audience", "namespace_id", "scopes", "job_ids")
            }
        before = standing()
        address = path.format(id=issued.token_id.hex, ns=place.namespace_id.hex)

        answer = person.call(method, address, sent)

        if held is None:
            assert (answer.status, answer.code) == (401, "UNAUTHENTICATED"), who
            assert answer.headers["WWW-Authenticate"].startswith("Session"), who
        elif held & opens:
            assert answer.status == status, (who, answer.text)
        else:
            assert (answer.status, answer.code) == (403, "PERMISSION_DENIED"), who
        if answer.status >= 400:
            assert standing() == before, who
        assert answer.headers["Cache-Control"] == "no-store"


def test_the_matrix_names_every_call():
    resolver = get_resolver("tokens_app.api.urls")
    listed = {path.partition("?")[0] for _, path, *_ in OPERATIONS}

    assert len(resolver.url_patterns) == len(urls.urlpatterns) == len(listed)
    for path in listed:
        assert resolver.resolve(path.format(id="0" * 32))


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("method", "path", "body"),
    [it[:3] for it in OPERATIONS if it[0] != "GET"],
    ids=[f"{it[0]} {it[1]}" for it in OPERATIONS if it[0] != "GET"],
)
def test_no_write_without_the_csrf_token(place, method, path, body):
    issued = place.token(place.job())
    person = Person(a_user(is_superuser=True), has_csrf=False)
    before = standing()

    answer = person.call(
        method,
        path.format(id=issued.token_id.hex),
        None if isinstance(body, str) else body,
    )

    assert (answer.status, answer.code) == (403, "PERMISSION_DENIED")
    assert standing() == before


def test_a_token_is_no_session(place):
    issued = place.token(place.job())

    answer = Person().get("/tokens", Authorization=f"Bearer {issued.plaintext}")

    assert answer.status == 401
    assert row_of(issued).last_used_at is None


@pytest.mark.django_db
def test_an_unknown_path_is_answered_in_json():
    assert Person().get("/nothing").status == 404
