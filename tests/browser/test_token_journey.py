"""From the login to a call that works, and no trace of the secret afterwards."""

import json
import re
import subprocess

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.sessions.models import Session
from django.db import connection

from tests.tokens_app.api.builders import PASSWORD
from tokens_app.models import ServiceAccountToken, TokenAudit

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]
TOKEN = re.compile(r"fja_[A-Za-z0-9]{16}_[A-Za-z0-9_-]{43}")


def fill_in(page, *, name="Billing export"):
    """A form that issues a token for the group `billing`."""
    page.get_by_label("Caller").fill(name)
    page.get_by_label("jobs:read").check()
    page.get_by_label("jobs:trigger").check()
    page.get_by_label("billing", exact=True).check()


def issue(page):
    """Issue it; answers the plain text in the dialog."""
    page.get_by_role("button", name="Issue token").click()
    return page.locator("#secret-text").inner_text()


def every_text_in_the_database():
    """All rows of all tables, as text."""
    with connection.cursor() as cursor:
        tables = connection.introspection.table_names(cursor)
        for table in tables:
            cursor.execute(f"SELECT t::text FROM {connection.ops.quote_name(table)} t")
            yield from (row for (row,) in cursor.fetchall())


def test_a_new_user_gets_from_the_login_to_a_working_call(visit, place, admin, printed):
    job = place.job(name="nightly")
    visitor = visit()
    visitor.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = visitor.open("/workbench/tokens/")
    page.get_by_label("Username").fill(admin.username)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()
    page.get_by_role("link", name="New token").click()
    fill_in(page)
    assert "nightly" in page.locator(".preview li").inner_text()

    secret = issue(page)
    page.get_by_role("button", name="Copy token").click()
    page.get_by_text("Copied.").first.wait_for()
    copied = page.evaluate("navigator.clipboard.readText()")
    page.get_by_text("List the jobs", exact=True).click()
    page.get_by_role("button", name="Copy: List the jobs").click()
    page.locator(".sample .copied").filter(has_text="Copied.").wait_for()
    listing = page.evaluate("navigator.clipboard.readText()")
    called = subprocess.run(
        ["/bin/bash", "-c", listing], capture_output=True, check=True, timeout=30
    )
    page.evaluate("navigator.clipboard.writeText('')")
    page.get_by_role("button", name="I have stored it").click()
    page.wait_for_url("**/workbench/tokens/*")

    assert TOKEN.fullmatch(secret)
    assert copied == secret
    assert [it["id"] for it in json.loads(called.stdout)["data"]["items"]] == [
        job.id.hex
    ]
    no_trace(visitor, secret, printed)


def no_trace(visitor, secret, printed):
    """The secret is in no page, no storage of the browser, no row and no log."""
    page, hidden = visitor.page, secret[21:]
    pages = [page.content()]
    for move in (page.reload, page.go_back, page.go_forward, page.reload):
        move()
        pages.append(page.content())
    assert not any(hidden in text for text in pages)
    assert hidden not in page.url
    assert hidden not in json.dumps(visitor.context.storage_state())
    assert hidden not in page.evaluate("JSON.stringify({...sessionStorage})")
    assert not [row for row in every_text_in_the_database() if hidden in row]
    assert not [it for it in Session.objects.all() if hidden in str(it.get_decoded())]
    assert not LogEntry.objects.exists()
    assert hidden not in printed.read_text()
    assert ServiceAccountToken.objects.count() == 1
    assert TokenAudit.objects.count() == 1


def test_the_answer_with_the_secret_is_stored_nowhere(visitor, place):
    place.job()
    page = visitor.open("/workbench/tokens/new")
    fill_in(page)

    with page.expect_response(
        lambda it: it.request.method == "POST" and it.status == 201
    ) as got:
        secret = issue(page)

    assert got.value.headers["cache-control"] == "no-store"
    assert "set-cookie" not in got.value.headers
    assert secret not in got.value.url


@pytest.mark.parametrize("way", ["reload", "go_back"])
def test_leaving_with_an_open_dialog_brings_nothing_back_and_mints_nothing(
    visitor, place, way
):
    place.job()
    page = visitor.open("/workbench/tokens/")
    page.get_by_role("link", name="New token").click()
    fill_in(page)
    secret = issue(page)

    getattr(page, way)()
    seen = [page.content()]
    if way == "go_back":
        page.go_forward()
        seen.append(page.content())

    assert not any(secret[21:] in text for text in seen)
    assert page.locator("[data-secret]").count() == 0
    assert ServiceAccountToken.objects.count() == 1


def test_a_double_click_issues_one_token(visitor, place):
    place.job()
    page = visitor.open("/workbench/tokens/new")
    fill_in(page)

    page.get_by_role("button", name="Issue token").dblclick()
    page.locator("#secret-text").wait_for()

    assert ServiceAccountToken.objects.count() == 1


def test_a_form_that_is_sent_again_names_the_token_it_issued(visitor, place):
    place.job()
    page = visitor.open("/workbench/tokens/new")
    fill_in(page)
    key = page.locator("[name=form_key]").input_value()
    issue(page)
    page.reload()
    fill_in(page)
    page.locator("[name=form_key]").evaluate("(it, key) => { it.value = key }", key)

    page.get_by_role("button", name="Issue token").click()

    refusal = page.get_by_role("alert")
    assert "sent before" in refusal.inner_text()
    assert page.evaluate("document.activeElement.className") == "refusal"
    refusal.get_by_role("link").click()
    assert page.get_by_role("heading", level=1).inner_text() == "Billing export"
    assert ServiceAccountToken.objects.count() == 1


def test_neither_escape_nor_a_click_outside_closes_the_dialog(visitor, place):
    place.job()
    page = visitor.open("/workbench/tokens/new")
    fill_in(page)
    secret = issue(page)

    for _ in range(3):
        page.keyboard.press("Escape")
        page.mouse.click(5, 5)

    assert page.get_by_role("dialog").is_visible()
    assert page.locator("#secret-text").inner_text() == secret
    assert page.evaluate("document.querySelector('dialog').matches(':modal')")


def test_where_copying_is_impossible_it_says_so_and_selects_the_text(visitor, place):
    place.job()
    visitor.context.add_init_script(
        "Object.defineProperty(navigator, 'clipboard', {value: undefined})"
    )
    page = visitor.open("/workbench/tokens/new")
    fill_in(page)
    secret = issue(page)

    page.get_by_role("button", name="Copy token").click()

    page.get_by_text("Copying failed.").wait_for()
    assert page.evaluate("getSelection().toString()").strip() == secret
    assert page.get_by_role("dialog").is_visible()
