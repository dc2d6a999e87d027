"""The overview: how recovery stands, in numbers that are those of the rows."""

import pytest

from tests.builders import a_namespace, a_queue, a_task, reported, reviewed
from tests.tasks_app.pages.builders import VIEW, Browser, unsure

pytestmark = pytest.mark.django_db(transaction=True)


def test_it_counts_what_waits_what_was_settled_and_what_disagrees():
    queue = a_queue(max_outstanding=10)
    task, lease = unsure(queue=queue)
    for _ in range(2):
        a_task(state="NEEDS_REVIEW", queue=queue)
    reviewed(task)
    reported(lease, "succeed")

    told = Browser(VIEW).text(f"overview?namespace={queue.namespace_id.hex}")

    assert ">2</a></dd><dt>The oldest waits" in told
    assert "<dt>Came, last day</dt><dd>3</dd>" in told
    assert "<dt>Settled, last day</dt><dd>1</dd>" in told
    assert "2 of 10, the oldest for" in told
    assert "Settled: Failed. The worker says: Succeeded." in told
    assert task.id.hex in told


def test_without_anything_it_says_so():
    assert "There is no namespace yet." in Browser(VIEW).text("overview")
    a_namespace()
    assert "None." in Browser(VIEW).text("overview")


@pytest.mark.parametrize("asked", ["x", "7" * 32])
def test_a_namespace_that_is_not_there_is_not_found(asked):
    a_namespace()
    assert Browser(VIEW).get(f"overview?namespace={asked}").status_code == 404


def test_the_number_of_statements_does_not_grow(django_assert_max_num_queries):
    queue = a_queue()
    for _ in range(5):
        a_task(state="NEEDS_REVIEW", queue=queue)
    browser = Browser(VIEW)
    browser.get("overview")
    with django_assert_max_num_queries(12):
        browser.get("overview")
