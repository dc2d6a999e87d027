"""Every page, light and dark, wide and narrow, in both languages."""

import os
from datetime import timedelta
from pathlib import Path

import pytest
from django.db import transaction

from orbit import clock
from orbit.ids import new_id
from tests.tokens_app.builders import SOMEBODY, age
from tokens_app.domain.call import Call
from tokens_app.models import TokenCall
from tokens_app.public import revoke_token, suspend_token

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]

# What axe is asked in each look; None: nothing, as the markup is that of another.
RULES: dict[str, tuple[str, ...] | None] = {
    "light": (),
    "dark": ("color-contrast",),
    "phone": ("target-size", "scrollable-region-focusable"),
    "chinese": None,
    "phone-dark-chinese": None,
}
LOOKS = {
    "light": {},
    "dark": {"color_scheme": "dark"},
    "phone": {"viewport": {"width": 390, "height": 844}},
    "chinese": {"locale": "zh-CN"},
    "phone-dark-chinese": {
        "viewport": {"width": 390, "height": 844},
        "color_scheme": "dark",
        "locale": "zh-CN",
    },
}


@pytest.fixture
def token_id(place, settle):
    """A token with a past; others stand beside it in the list."""
    jobs = [place.job(name=name) for name in ("nightly-invoices", "dunning")]
    wanted = {"owner_contact": "payments@example.org", "name": "Partner portal"}
    issued = place.token(
        jobs[0], job_groups=("billing",), expires=timedelta(days=90), **wanted
    )
    place.job(name="month-end")
    for name, days in (("Data warehouse", 9), ("Kiosk", 200)):
        place.token(jobs[1], name=name, expires=timedelta(days=days))
    suspended = place.token(jobs[1], name="Old importer", expires=timedelta(days=40))
    suspend_token(token_id=suspended.token_id, by=SOMEBODY, reason="Odd calls at night")
    expired = place.token(jobs[1], name="Trade fair demo")
    age(expired.token_id, by=timedelta(hours=2))
    revoked = place.token(jobs[1], name="Former agency")
    revoke_token(token_id=revoked.token_id, by=SOMEBODY, reason="Contract ended")
    settle(issued.token_id, jobs[0].id)
    return issued.token_id.hex


@pytest.fixture
def settle(transactional_db):  # noqa: ARG001 - rows come first
    """Writes calls into a token's log as if they had been made."""
    routes = (
        ("GET /openapi/v1/jobs", 200, "ok", 2.1),
        ("POST /openapi/v1/jobs/{job_id}/executions", 202, "ok", 8.4),
        ("POST /openapi/v1/jobs/{job_id}/executions", 429, "rate_limited", 1.2),
        ("GET /openapi/v1/executions/{execution_id}", 200, "ok", 3.0),
    )

    def write(token_id, job_id):
        for day in range(25, -1, -1):
            _write(
                [
                    Call(
                        token_id=token_id,
                        route=route,
                        job_id=job_id,
                        status=status,
                        result=result,
                        is_replay=number == 5,
                        latency_ms=latency + number,
                        request_id=new_id().hex,
                        created_at=clock.now() - timedelta(days=day),
                    )
                    for number in range(1 + day * 7 % 11)
                    for route, status, result, latency in [routes[number % 4]]
                ]
            )

    return write


def _write(calls):
    with transaction.atomic():
        TokenCall.objects.write(calls)


def photograph(page, name):
    """Keep a picture where ORBIT_SCREENSHOTS names a folder."""
    if folder := os.environ.get("ORBIT_SCREENSHOTS"):
        page.screenshot(
            path=Path(folder) / f"{name}.png", full_page="dialog" not in name
        )


@pytest.mark.parametrize("look", LOOKS)
def test_no_page_has_a_serious_fault_or_overflows(visit, admin, token_id, look):
    visitor = visit(**LOOKS[look]).sign_in(admin)
    faults = {}
    for name, path in {
        "list": "",
        "create": "new",
        "guide": "guide",
        "guide-python": f"{token_id}/guide?shell=python",
        "token": token_id,
        "edit": f"{token_id}/edit",
        "rotate": f"{token_id}/rotate",
        "revoke": f"{token_id}/revoke",
    }.items():
        page = visitor.open(f"/workbench/tokens/{path}")
        if name == "create":
            page.locator("[name=name]").fill("Billing export")
            page.locator("[name=scopes]").first.check()
            page.locator("[name=scopes]").nth(1).check()
            page.locator("[name=job_groups]").first.check()
            page.locator(".preview li").first.wait_for()
        photograph(page, f"{name}-{look}")
        faults[name] = looked_over(visitor, look)
        if name == "create":
            page.locator(".send .primary").click()
            page.locator("#secret-text").wait_for()
            photograph(page, f"dialog-{look}")
            faults["dialog"] = looked_over(visitor, look)

    assert faults == {name: [] for name in faults}


def looked_over(visitor, look):
    """What axe finds, and what is wider than the window."""
    rules = RULES[look]
    found = [] if rules is None else visitor.faults(*rules)
    return found + visitor.page.evaluate(
        "document.documentElement.scrollWidth > innerWidth"
        " ? ['wider than the window: ' + document.documentElement.scrollWidth] : []"
    )


def test_the_language_can_be_switched_and_stays(visitor, token_id):
    page = visitor.open(f"/workbench/tokens/{token_id}")

    page.get_by_role("button", name="简体中文").click()
    page.get_by_role("heading", name="资源范围").wait_for()
    page.get_by_role("link", name="调用说明").click()
    switched = page.locator("html").get_attribute("lang")
    page.get_by_role("button", name="English").click()

    assert switched == "zh-hans"
    assert page.get_by_role("heading", level=1).inner_text() == "Usage guide"
