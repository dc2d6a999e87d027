"""The list of late reports that disagree with an outcome."""

import pytest

from tasks_app.pages import contradictions
from tests.builders import a_namespace, a_queue, reported, reviewed
from tests.tasks_app.pages.builders import VIEW, Browser, unsure

pytestmark = pytest.mark.django_db(transaction=True)

PAGE = "contradictions"


def a_contradiction(queue, **changes):
    """A task settled as FAILED whose worker says later that it succeeded."""
    task, lease = unsure(queue=queue, **changes)
    reviewed(task)
    reported(lease, "succeed")
    return task


def test_each_is_told_with_its_task_and_both_sides():
    queue = a_queue()
    task = a_contradiction(queue, business_key="invoice 7")

    told = Browser(VIEW).text(PAGE)

    assert f'/admin/recovery/tasks/{task.id}">invoice 7</a>' in told.replace(
        task.id.hex, str(task.id)
    )
    assert '"Settled as">Failed<' in told
    assert "<strong>Succeeded</strong>" in told


def test_without_any_it_says_so():
    assert "No late report disagrees" in Browser(VIEW).text(PAGE)
    a_namespace()
    assert "No late report disagrees" in Browser(VIEW).text(PAGE)


def test_a_namespace_is_shown_alone():
    here, there = a_queue(), a_queue()
    mine, other = a_contradiction(here), a_contradiction(there)

    told = Browser(VIEW).text(f"{PAGE}?namespace={here.namespace_id.hex}")

    assert mine.id.hex in told
    assert other.id.hex not in told
    assert Browser(VIEW).get(f"{PAGE}?namespace=x").status_code == 404


def test_pages_follow_each_other_newest_first(monkeypatch):
    monkeypatch.setattr(contradictions, "SHOWN", 2)
    queue = a_queue()
    tasks = [a_contradiction(queue).id.hex for _ in range(3)]
    browser = Browser(VIEW)

    first = browser.get(PAGE)
    after = first.context["next"]
    second = browser.get(PAGE + "?after=" + after)

    shown = [it.record.task_id.hex for it in first.context["rows"]]
    assert shown == [tasks[2], tasks[1]]
    assert [it.record.task_id.hex for it in second.context["rows"]] == [tasks[0]]
    assert second.context["next"] is None
    assert browser.get(PAGE + "?after=nonsense").status_code == 400


def test_the_number_of_statements_does_not_grow(django_assert_max_num_queries):
    queue = a_queue()
    browser = Browser(VIEW)
    for _ in range(3):
        a_contradiction(queue)
    with django_assert_max_num_queries(8):
        browser.get(PAGE)
