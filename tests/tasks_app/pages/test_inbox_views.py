"""Views of the inbox that a person keeps, and what it says of contradictions."""

import pytest

from tasks_app.actions.keep_inbox_view import MOST_VIEWS
from tasks_app.models import InboxView
from tests.builders import a_queue, reported, reviewed
from tests.tasks_app.pages.builders import REVIEW, VIEW, Browser, unsure

pytestmark = pytest.mark.django_db(transaction=True)

KEEP = "Name of this view"


def kept(browser, name="Bank", **filters):
    return browser.post("views", {"name": name, **filters})


def test_a_view_is_kept_shown_and_forgotten():
    queue = a_queue()
    task, _ = unsure(queue=queue)
    other, _ = unsure()
    browser = Browser(VIEW)
    assert KEEP not in browser.text()
    assert KEEP in browser.text(f"?queue={queue.id.hex}")

    answer = kept(browser, queue=queue.id.hex, cause="WORKER_UNSURE")

    address = answer["Location"].partition("/admin/recovery/")[2]
    told = browser.text(address)
    assert task.id.hex in told
    assert other.id.hex not in told
    assert 'aria-current="true">Bank</a>' in told
    assert "Forget the view “Bank”" in told
    assert KEEP not in told
    assert ">Bank</a>" in browser.text()

    view = InboxView.objects.get()
    browser.post(f"views/{view.id.hex}/forget", {})
    assert not InboxView.objects.exists()
    assert ">Bank</a>" not in browser.text()


def test_a_view_is_its_owners():
    mine, yours = Browser(VIEW), Browser(VIEW, REVIEW)
    kept(mine, handler="a")
    view = InboxView.objects.get()

    assert ">Bank</a>" not in yours.text()
    yours.post(f"views/{view.id.hex}/forget", {})
    kept(yours, handler="b")

    assert InboxView.objects.filter(name="Bank").count() == 2
    assert InboxView.objects.get(id=view.id).handler == "a"


def test_the_same_name_again_replaces_what_it_stands_for():
    browser = Browser(VIEW)
    kept(browser, handler="a")
    kept(browser, name=" Bank ", handler="b", cause="LEASE_LOST")

    view = InboxView.objects.get()
    assert (view.handler, view.cause) == ("b", "LEASE_LOST")


@pytest.mark.parametrize(
    ("sent", "told"),
    [
        ({"name": " ", "handler": "a"}, "Give the view a name."),
        ({"name": "x" * 61, "handler": "a"}, "This name is too long for a view."),
        ({"name": "all"}, "Filter the list first"),
    ],
)
def test_a_view_that_cannot_be_is_refused_in_words(sent, told):
    browser = Browser(VIEW)
    answer = browser.post("views", sent)

    assert answer.status_code == 302
    assert told in browser.text(answer["Location"].partition("/admin/recovery/")[2])
    assert not InboxView.objects.exists()


@pytest.mark.parametrize("sent", [{"queue": "x"}, {"cause": "BOREDOM"}])
def test_a_filter_that_is_none_is_not_found(sent):
    assert kept(Browser(VIEW), **sent).status_code == 404


def test_there_is_an_end_to_keeping_views():
    browser = Browser(VIEW)
    for number in range(MOST_VIEWS + 1):
        kept(browser, name=f"view {number}", handler="a")
    assert InboxView.objects.count() == MOST_VIEWS
    kept(browser, name="view 0", handler="b")
    assert InboxView.objects.get(name="view 0").handler == "b"


def test_names_are_told_as_text():
    browser = Browser(VIEW)
    kept(browser, name="<b>\0x", handler="a")
    assert "&lt;b&gt;x" in browser.text()


def test_who_may_not_look_keeps_nothing():
    assert kept(Browser(REVIEW), handler="a").status_code == 403


def test_the_inbox_tells_of_reports_that_disagree():
    task, lease = unsure()
    browser = Browser(VIEW)
    reviewed(task)
    assert "disagrees with an outcome" not in browser.text()

    reported(lease, "succeed")

    assert "1 late report of the last day disagrees with an outcome." in browser.text()
