"""Batches of reviews in a real browser: from the inbox to the end, in every look."""

import pytest

from tasks_app.models import ReviewBatch, Task
from tasks_app.subscribers.review_batches import run_review_batches
from tests.browser.test_pages_look import LOOKS, looked_over, photograph
from tests.builders import a_queue
from tests.tasks_app.batches.builders import a_batch, uncertain
from tests.tasks_app.pages.builders import ROOT

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]

EXACT = '{"id":9007199254740993,"price":1.10}'


def test_from_the_inbox_to_the_last_task(visitor):
    queue = a_queue()
    uncertain(queue, 4)
    page = visitor.open(f"{ROOT}?queue={queue.id.hex}")

    page.get_by_role("link", name="Settle these together").click()
    page.get_by_text("Narrow it further").click()
    page.get_by_label("Error code, exactly").fill("OUTCOME_UNKNOWN")
    page.get_by_role("button", name="Show only these").click()
    page.wait_for_url("**code=OUTCOME_UNKNOWN**")
    page.locator("[name=outcome][value=FAILED]").check()
    page.get_by_label("Result (JSON)").fill(EXACT)
    page.get_by_label("Reason").fill("The bank was down.")
    page.get_by_label("Evidence reference").fill("ticket:77")
    page.get_by_label("First only so many").fill("1")
    page.locator("[name=execution_settled]").check()
    page.get_by_role("button", name="Create the batch").dblclick()
    page.get_by_role("button", name="Pause").wait_for()
    run_review_batches(limit=10)
    page.reload()
    page.get_by_role("button", name="Go on with the rest").click()
    page.get_by_role("button", name="Pause").wait_for()
    held = Task.objects.filter(queue=queue, state="FAILED").count()
    run_review_batches(limit=10)
    run_review_batches(limit=10)
    page.reload()

    assert held == 1
    assert page.get_by_text("Done", exact=True).first.is_visible()
    assert ReviewBatch.objects.get().total == 4
    assert {it.result for it in Task.objects.filter(queue=queue)} == {EXACT}


@pytest.fixture
def pages(admin):
    """The pages of batches, with a batch that waits for a person."""
    queue = a_queue()
    tasks = uncertain(queue, 5)
    Task.objects.filter(id=tasks[1].id).update(is_gated=True)
    batch_id = a_batch(queue, admin, canary=3)
    run_review_batches(limit=10)
    return {
        "list": "batches",
        "new": f"batches/new?queue={queue.id.hex}&code=OUTCOME_UNKNOWN&min_minutes=0",
        "held": f"batches/{batch_id.hex}",
    }


@pytest.mark.parametrize("look", LOOKS)
def test_no_page_has_a_serious_fault_or_overflows(visit, admin, pages, look):
    visitor = visit(**LOOKS[look]).sign_in(admin)
    faults = {}
    for name, path in pages.items():
        page = visitor.open(ROOT + path)
        photograph(page, f"batches-{name}-{look}")
        faults[name] = looked_over(visitor, look)
    assert faults == {name: [] for name in pages}
