"""Issuing and rotating over the management API: once, recently proved, never kept."""

import json
import logging

import pytest
from django.contrib.sessions.models import Session
from django.db import connection

from orbit.ids import new_id
from tests.openapi_app.api.builders import Caller
from tests.tokens_app.api.builders import (
    OWN_RIGHTS,
    PASSWORD,
    Person,
    a_person,
    a_user,
    an_administrator,
    issue_body,
)
from tests.tokens_app.test_secrecy import everything_stored
from tokens_app.models import ServiceAccountToken, TokenAudit

pytestmark = pytest.mark.django_db
ISSUE, ROTATE = "tokens_app.issue_token", "tokens_app.rotate_token"
HOUR, OLD = 3600, 15 * 60 + 1


def rotation(count=0, **changes):
    return {"expected_rotation_count": count, "reason": "routine", **changes}


def path_of(answer, act=""):
    return f"/tokens/{answer.data['token']['id']}{act}"


def test_an_issued_token_works_and_says_what_it_may(place):
    job = place.job()

    answer = an_administrator().post("/tokens", issue_body(place, job))

    assert answer.status == 201
    token = answer.data["token"]
    assert token["job_ids"] == [job.id.hex]
    assert token["status"] == "ACTIVE"
    assert "digest" not in answer.text
    caller = Caller(answer.data["plaintext"])
    assert caller.get(f"/jobs/{job.id.hex}").status == 200


def test_the_plain_text_is_nowhere_after_issue_and_rotate(place, caplog):
    caplog.set_level(logging.DEBUG)
    connection.force_debug_cursor = True
    person = an_administrator()
    try:
        issued = person.post("/tokens", issue_body(place, place.job()))
        rotated = person.post(path_of(issued, ":rotate"), rotation())
        later = [
            person.get("/tokens"),
            person.get(path_of(issued)),
            person.get(path_of(issued, "/audit")),
            person.get(path_of(issued, "/samples")),
            person.post(path_of(issued, ":rotate"), rotation()),
        ]
    finally:
        connection.force_debug_cursor = False
    plaintexts = [issued.data["plaintext"], rotated.data["plaintext"]]
    assert len(set(plaintexts)) == 2
    sessions = [json.dumps(it.get_decoded()) for it in Session.objects.all()]
    assert sessions
    places = [
        *everything_stored(),
        *sessions,
        *(answer.text for answer in later),
        str(person.client.cookies),
        str(issued.headers),
        str(rotated.headers),
        caplog.text,
    ]
    for plaintext in plaintexts:
        secret = plaintext[21:]
        assert not [text for text in places if secret in text]
    for answer in (issued, rotated):
        assert answer.headers["Cache-Control"] == "no-store"
        assert answer.text.count(answer.data["plaintext"][21:]) == 1
    assert [it.action for it in TokenAudit.objects.order_by("created_at")] == [
        "token.issue",
        "token.rotate",
    ]


def test_no_report_of_an_error_has_the_plain_text_or_the_password(
    place, caplog, monkeypatch
):
    seen = []

    def fail(token_id):
        seen.append(token_id)
        raise RuntimeError("no answer today")

    monkeypatch.setattr("tokens_app.queries.token_detail", fail)
    person = an_administrator(login_age=OLD)

    answer = person.post("/tokens", issue_body(place, place.job(), password=PASSWORD))

    assert (answer.status, answer.code) == (500, "INTERNAL")
    [row] = ServiceAccountToken.objects.filter(id=seen[0])
    assert f"{row.display_prefix}_" not in caplog.text
    assert PASSWORD not in caplog.text


def test_a_form_that_is_sent_twice_issues_one_token(place):
    person, body = an_administrator(), issue_body(place, place.job())
    body["form_key"] = new_id().hex

    first, second = person.post("/tokens", body), person.post("/tokens", body)

    assert first.status == 201
    assert second.status == 409
    assert second.error["token_id"] == first.data["token"]["id"]
    assert "plaintext" not in second.text
    assert ServiceAccountToken.objects.count() == 1


def test_a_second_click_on_rotate_keeps_the_first_secret(place):
    person = an_administrator()
    issued = person.post("/tokens", issue_body(place, place.job()))

    first = person.post(path_of(issued, ":rotate"), rotation())
    second = person.post(path_of(issued, ":rotate"), rotation())

    assert (first.status, second.status) == (200, 409)
    assert second.error["rotation_count"] == 1
    assert Caller(first.data["plaintext"]).get("/token").status == 200
    assert Caller(issued.data["plaintext"]).get("/token").status == 401


@pytest.mark.parametrize("login_age", [OLD, None, -HOUR])
def test_an_old_or_unknown_login_needs_the_password(place, login_age):
    person = an_administrator(login_age=login_age)
    body = issue_body(place, place.job())

    without = person.post("/tokens", body)
    wrong = person.post("/tokens", {**body, "password": "not it"})
    right = person.post("/tokens", {**body, "password": PASSWORD})
    afterwards = person.post("/tokens", body)

    for answer in (without, wrong):
        assert (answer.status, answer.code) == (403, "reauthentication_required")
        assert answer.field == "password"
    assert (right.status, afterwards.status) == (201, 201)
    assert ServiceAccountToken.objects.count() == 2


def test_rotate_needs_a_recent_login_too(place):
    issued = place.token(place.job())
    path = f"/tokens/{issued.token_id.hex}:rotate"
    person = an_administrator(login_age=OLD)

    refused = person.post(path, rotation())
    done = person.post(path, rotation(password=PASSWORD))

    assert (refused.status, refused.code) == (403, "reauthentication_required")
    assert done.status == 200


def test_the_password_of_somebody_else_is_none(place):
    other = a_user(is_superuser=True)
    other.set_password("another good password")
    other.save()

    answer = an_administrator(login_age=OLD).post(
        "/tokens", issue_body(place, place.job(), password="another good password")
    )

    assert answer.code == "reauthentication_required"


def test_a_login_in_the_browser_counts_as_recent(place):
    user = a_user(is_superuser=True)
    person = Person()
    page = person.client.post(
        "/admin/login/",
        {
            "username": user.username,
            "password": PASSWORD,
            "csrfmiddlewaretoken": person.csrf,
            "next": "/admin/",
        },
    )
    assert page.status_code == 302
    person.csrf = person.client.cookies["csrftoken"].value

    answer = person.post("/tokens", issue_body(place, place.job()))

    assert answer.status == 201, answer.text


def test_nobody_grants_what_they_may_not_run(place):
    job = place.job()

    refused = a_person(ISSUE, "openapi_app.view_job").post(
        "/tokens", issue_body(place, job)
    )
    granted = a_person(ISSUE, *OWN_RIGHTS).post("/tokens", issue_body(place, job))

    assert (refused.status, refused.field) == (403, "job_ids")
    assert granted.status == 201
    assert ServiceAccountToken.objects.count() == 1


def test_what_is_not_there_is_cut_from_the_range(place):
    job, gone = place.job(), new_id()
    body = issue_body(place, job, job_groups=["billing", "nowhere"])
    body["job_ids"].append(gone.hex)

    preview = an_administrator().post(
        "/range:preview",
        {k: body[k] for k in ("audience", "namespace_id", "job_ids", "job_groups")},
    )
    answer = an_administrator().post("/tokens", body)

    assert [it["id"] for it in preview.data["reached"]] == [job.id.hex]
    assert preview.data["refused"]["job_ids"] == [gone.hex]
    assert preview.data["refused"]["job_groups"] == ["nowhere"]
    assert answer.data["token"]["job_ids"] == [job.id.hex]
    assert answer.data["token"]["job_groups"] == ["billing"]


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"name": "  "}, "name"),
        ({"scopes": []}, "scopes"),
        ({"scopes": ["jobs:own"]}, "scopes"),
        ({"job_ids": []}, "job_ids"),
        ({"job_ids": [], "job_groups": ["nowhere"]}, "job_groups"),
        ({"expires_in_days": 10_000}, "expires"),
        ({"expires_in_days": None}, "expires"),
        ({"expires": "2001-01-01T00:00:00Z", "expires_in_days": None}, "expires"),
        ({"expires": "2001-01-01T00:00:00Z"}, "expires"),
        ({"reads_per_minute": 0}, "reads_per_minute"),
        ({"description": "x" * 2001}, "description"),
        ({"audience": "EVERYTHING"}, "audience"),
        ({"token": "fja_mine"}, "token"),
    ],
)
def test_each_error_names_its_field(place, changes, field):
    answer = an_administrator().post(
        "/tokens", issue_body(place, place.job(), **changes)
    )

    assert answer.status in {400, 403}
    assert answer.field == field
    assert answer.error["message"]
    assert not ServiceAccountToken.objects.exists()


def test_rotation_refuses_what_it_must(place):
    issued = place.token(place.job())
    path = f"/tokens/{issued.token_id.hex}:rotate"
    person = an_administrator()

    leaked = person.post(path, rotation(reason="leaked", overlap_seconds=HOUR))
    odd = person.post(path, rotation(overlap_seconds=7))
    unknown = person.post(f"/tokens/{new_id().hex}:rotate", rotation())

    assert (leaked.status, leaked.field) == (400, "overlap")
    assert (odd.status, odd.field) == (400, "overlap")
    assert unknown.status == 404
    assert Caller(issued.plaintext).get("/token").status == 200
