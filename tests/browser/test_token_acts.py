"""What is done to tokens in the browser."""

import pytest

from tests.tokens_app.builders import acts_on, call, row_of
from tokens_app.public import TokenRejected

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]


def is_accepted(plaintext):
    """Whether the open job API takes it."""
    try:
        call(plaintext, audience="OPEN_JOBS")
    except TokenRejected:
        return False
    return True


def test_rotating_with_an_overlap_shows_the_new_secret_once(visitor, place):
    issued = place.token(place.job())
    page = visitor.open(f"/workbench/tokens/{issued.token_id.hex}/rotate")

    page.get_by_label("24 hours").check()
    page.get_by_role("button", name="Rotate now").click()
    second = page.locator("#secret-text").inner_text()
    page.get_by_role("button", name="I have stored it").click()
    page.get_by_text("The old secret is accepted until").wait_for()

    assert second != issued.plaintext
    assert second[:20] == issued.plaintext[:20]
    assert is_accepted(issued.plaintext)
    assert is_accepted(second)
    assert second[21:] not in page.content()


def test_a_leaked_secret_gets_no_overlap(visitor, place):
    issued = place.token(place.job())
    page = visitor.open(f"/workbench/tokens/{issued.token_id.hex}/rotate")
    page.get_by_label("7 days").check()

    page.get_by_label("It leaked, or may have").check()
    forced = page.locator("[name=overlap]:checked").input_value()
    page.get_by_role("button", name="Rotate now").click()
    page.locator("#secret-text").wait_for()

    assert forced == "0"
    assert not is_accepted(issued.plaintext)


def test_a_rotation_that_somebody_else_made_first_is_refused(visit, admin, place):
    issued = place.token(place.job())
    path = f"/workbench/tokens/{issued.token_id.hex}/rotate"
    slow, fast = (visit().sign_in(admin).open(path) for _ in range(2))
    fast.get_by_role("button", name="Rotate now").click()
    newest = fast.locator("#secret-text").inner_text()

    slow.get_by_role("button", name="Rotate now").click()

    assert "rotated since" in slow.get_by_role("alert").inner_text()
    assert is_accepted(newest)
    assert row_of(issued).rotation_count == 1


def test_suspending_resuming_and_revoking_ask_why(visitor, place):
    issued = place.token(place.job())
    page = visitor.open(f"/workbench/tokens/{issued.token_id.hex}")
    accepted = []

    for link, button in (
        ("Suspend", "Suspend"),
        ("Resume", "Resume"),
        ("Revoke", "Revoke for ever"),
    ):
        page.get_by_role("link", name=link, exact=True).click()
        page.get_by_role("button", name=button).click()
        assert "Say why" in page.locator("#id_reason_error").inner_text()
        assert page.evaluate("document.activeElement.name") == "reason"
        page.get_by_label("Reason").fill(f"{link} because of a test")
        page.get_by_role("button", name=button).click()
        page.locator(".messagelist .success").wait_for()
        accepted.append(is_accepted(issued.plaintext))

    assert accepted == [False, True, False]
    assert acts_on(issued)[1:] == ["token.suspend", "token.resume", "token.revoke"]
    assert page.get_by_role("link", name="Rotate").count() == 0


def test_a_token_whose_group_grew_warns_until_somebody_accepts_it(visitor, place):
    place.job(name="first")
    issued = place.token(job_groups=(place.group.name,))
    place.job(name="second")
    page = visitor.open(f"/workbench/tokens/{issued.token_id.hex}")
    warned = page.get_by_role("note").inner_text()

    page.get_by_role("link", name="Look at its range").click()
    page.get_by_text("Reaches 2 now").wait_for()
    page.get_by_label("Description").fill("Also the second.")
    page.get_by_role("button", name="Save").click()
    page.locator(".messagelist .success").wait_for()

    assert "1 job that nobody looked at" in warned
    assert "billing / second" in warned
    assert page.get_by_role("note").count() == 0
    assert row_of(issued).description == "Also the second."


def press_until(page, name):
    """Move the focus on by Tab until it is on what has this name."""
    for _ in range(80):
        page.keyboard.press("Tab")
        seen = page.evaluate(
            "document.activeElement.closest('label')?.textContent"
            " || document.activeElement.getAttribute('aria-label')"
            " || document.activeElement.labels?.[0]?.textContent"
            " || document.activeElement.textContent"
        )
        if name in seen:
            return
    pytest.fail(f"{name} is not reached by Tab")


def test_the_keyboard_alone_is_enough(visitor, place):
    place.job(name="nightly")
    page = visitor.open("/workbench/tokens/")

    press_until(page, "New token")
    page.keyboard.press("Enter")
    page.wait_for_url("**/new*")
    press_until(page, "Caller")
    page.keyboard.type("Keyboard")
    press_until(page, "jobs:read")
    page.keyboard.press("Space")
    press_until(page, "billing")
    page.keyboard.press("Space")
    press_until(page, "Issue token")
    page.keyboard.press("Enter")
    page.locator("#secret-text").wait_for()
    first = page.evaluate("document.activeElement.textContent")
    inside = []
    for _ in range(12):
        page.keyboard.press("Tab")
        inside.append(
            page.evaluate(
                "document.activeElement === document.body"
                " || Boolean(document.activeElement.closest('dialog'))"
            )
        )
    press_until(page, "I have stored it")
    page.keyboard.press("Enter")
    page.wait_for_url(lambda url: not url.endswith("/new"))

    assert first == "Copy token"
    assert all(inside)
    assert page.get_by_role("heading", level=1).inner_text() == "Keyboard"
