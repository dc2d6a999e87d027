"""Mistakes in the forms: beside their field, focused, and nothing typed is lost."""

import pytest

from tests.browser.test_token_journey import fill_in
from tests.tokens_app.api.builders import PASSWORD, a_user
from tokens_app.models import ServiceAccountToken

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]


def error_of(page, name):
    """What stands under the field, and the name of what has the focus."""
    page.locator(f"#id_{name}_error").wait_for()
    focus = page.evaluate("document.activeElement.name")
    return page.locator(f"#id_{name}_error").inner_text(), focus


TOLD = {
    "en-GB": {
        "button": "Issue token",
        "nameless": "Name the caller this token is for.",
        "late": "A token may live 365 days at most; choose an earlier expiry.",
        "scopeless": "Choose at least one scope:"
        " jobs:read, jobs:trigger, executions:read.",
    },
    "zh-CN": {
        "button": "签发令牌",
        "nameless": "请填写该令牌的调用方名称。",
        "late": "令牌最长有效期为 365 天，请选择更早的到期时间。",  # noqa: RUF001
        "scopeless": "请至少选择一个权限范围："  # noqa: RUF001
        "jobs:read, jobs:trigger, executions:read。",
    },
}


@pytest.mark.parametrize("language", TOLD)
def test_each_mistake_is_told_beside_its_field_and_focused(
    visit, admin, place, language
):
    place.job()
    told = TOLD[language]
    page = visit(locale=language).sign_in(admin).open("/workbench/tokens/new")
    send = page.get_by_role("button", name=told["button"])

    send.click()
    assert error_of(page, "scopes") == (told["scopeless"], "scopes")
    fill_in_by_name(page)
    page.locator("[name=owner_contact]").fill("ops@example.org")
    send.click()
    assert error_of(page, "name") == (told["nameless"], "name")
    page.locator("[name=name]").fill("Partner")
    page.locator("[name=lifetime][value=until]").check()
    page.locator("[name=until]").fill("2099-01-01T10:00")
    send.click()
    assert error_of(page, "lifetime") == (told["late"], "lifetime")

    assert page.locator("[name=owner_contact]").input_value() == "ops@example.org"
    assert page.locator("[name=until]").input_value() == "2099-01-01T10:00"
    assert page.locator("[name=scopes]:checked").count() == 1
    assert page.locator("[name=job_groups]:checked").count() == 1
    assert not ServiceAccountToken.objects.exists()


def fill_in_by_name(page):
    """One scope and one group, in any language."""
    page.locator("[name=scopes][value='jobs:read']").check()
    page.locator("[name=job_groups][value=billing]").check()


def test_an_empty_range_is_told_beside_the_range(visitor, place):
    place.job()
    page = visitor.open("/workbench/tokens/new")
    page.get_by_label("Caller").fill("Partner")
    page.get_by_label("jobs:read").check()

    page.get_by_role("button", name="Issue token").click()

    text, focus = error_of(page, "job_ids")
    assert text.startswith("An empty range reaches nothing")
    assert focus == "job_ids"


def test_an_old_login_is_asked_for_its_password(visit, admin, place):
    place.job()
    page = visit().sign_in(admin, login_age=3600).open("/workbench/tokens/new")
    fill_in(page)
    send = page.get_by_role("button", name="Issue token")

    send.click()
    asked = error_of(page, "password")
    page.get_by_label("Your password").fill("not this one")
    send.click()
    page.get_by_text("This is not your password").wait_for()
    refused = error_of(page, "password")
    page.get_by_label("Your password").fill(PASSWORD)
    send.click()

    page.locator("#secret-text").wait_for()
    assert asked[1] == refused[1] == "password"
    assert "15 minutes" in asked[0]


def test_the_preview_says_what_the_user_may_not_grant(visit, place):
    place.job(name="nightly")
    user = a_user("tokens_app.issue_token", "tokens_app.view_serviceaccounttoken")
    page = visit().sign_in(user).open("/workbench/tokens/new")

    fill_in(page)

    page.get_by_text("not yours to grant").wait_for()
    page.get_by_role("button", name="Issue token").click()
    text, focus = error_of(page, "job_groups")
    assert "You may not grant any of this" in text
    assert focus == "job_groups"


def test_the_expiry_is_told_in_the_viewer_s_zone(visitor, place):
    place.job()
    page = visitor.open("/workbench/tokens/new")

    page.get_by_label("Until a date").check()
    page.locator("[name=until]").fill("2027-01-15T12:00")
    fill_in(page)
    told = page.locator("[data-moment]").inner_text()
    page.get_by_role("button", name="Issue token").click()
    page.locator("#secret-text").wait_for()

    assert "15 Jan 2027, 12:00 (Europe/Berlin)" in told
    kept = ServiceAccountToken.objects.get().expires_at.isoformat()
    assert kept == "2027-01-15T11:00:00+00:00"
