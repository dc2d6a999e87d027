"""The form of a retry: one successor, its room foretold, and followed afterwards."""

from datetime import timedelta

import pytest

from tasks_app.models import Task
from tests.builders import a_queue, a_task, again, claimed, reported, retried
from tests.tasks_app.pages.builders import Browser, another_try, failed, path_of, unsure

pytestmark = pytest.mark.django_db(transaction=True)


def successors(task):
    """The tasks that run this one again."""
    return list(Task.objects.filter(retry_of=task.id))


def test_a_retry_makes_one_successor_and_shows_how_it_goes():
    task = failed()
    browser = Browser()
    path = path_of(task, "/retry")
    form = browser.form(path, **another_try())

    answers = [browser.post(path, form) for _ in range(2)]

    assert {(it.status_code, it["Location"]) for it in answers} == {
        (302, f"/admin/recovery/{path}")
    }
    [child] = successors(task)
    assert child.payload == task.payload
    assert child.deadline_at - child.created_at == timedelta(minutes=10)
    told = browser.text(path)
    assert f'href="/admin/recovery/{path_of(child)}"' in told
    assert f'data-live="/admin/recovery/{path_of(child, "/standing")}"' in told
    assert "<textarea" not in told


def test_the_standing_of_the_new_task_is_told_until_it_stands_still():
    task = failed()
    browser = Browser()
    child = retried(task).task
    waiting = browser.text(path_of(child, "/standing"))
    lease = again(child.id)
    running = browser.text(path_of(child, "/standing"))
    reported(lease, "succeed")
    done = browser.text(path_of(child, "/standing"))

    assert [
        (state, "data-moving" in it)
        for it in (waiting, running, done)
        for state in ("WAITING", "RUNNING", "SUCCEEDED")
        if f'data-state="{state}"' in it
    ] == [("WAITING", True), ("RUNNING", True), ("SUCCEEDED", False)]


def test_the_budget_begins_as_that_of_the_source():
    task = failed(task_timeout_ms=7_200_000)
    form = Browser().get(path_of(task, "/retry")).context["form"]

    assert (form["budget"].value(), form["budget_unit"].value()) == (2, "3600000")


def test_times_are_read_in_the_viewer_s_zone():
    task = failed()
    browser = Browser()
    path = path_of(task, "/retry")
    day = (task.created_at + timedelta(days=2)).date()
    typed = another_try(
        budget="9",
        budget_unit="86400000",
        available_at=f"{day}T10:00",
        zone="Asia/Shanghai",
    )

    browser.post(path, browser.form(path, **typed))

    [child] = successors(task)
    assert child.available_at.isoformat() == f"{day}T02:00:00+00:00"


@pytest.mark.parametrize(
    ("typed", "field", "told"),
    [
        ({"budget": "1", "budget_unit": "1000"}, "budget", "at least 10000 ms"),
        ({"budget": ""}, "budget", "required"),
        ({"available_at": "2020-01-01T00:00"}, "available_at", "in the past"),
        ({"start_deadline_at": "2020-01-01T00:00"}, "start_deadline_at", "not after"),
        ({"safe_to_retry": ""}, "safe_to_retry", "Declare this"),
        ({"reason": ""}, "reason", "Say why"),
    ],
)
def test_a_mistake_is_told_beside_its_field(typed, field, told):
    task = failed()
    browser = Browser()
    path = path_of(task, "/retry")

    response = browser.post(path, browser.form(path, **{**another_try(), **typed}))

    assert list(response.context["form"].errors) == [field]
    assert told in response.context["form"].errors[field][0]
    assert successors(task) == []


def test_the_room_is_foretold_and_a_full_queue_refuses_and_keeps_what_was_typed():
    queue = a_queue(max_outstanding=1)
    task = failed(queue=queue)
    browser = Browser()
    path = path_of(task, "/retry")
    form = browser.form(path, **another_try())
    roomy = browser.text(path)
    a_task(queue=queue)

    full = browser.text(path)
    refused = browser.post(path, form)
    lease = claimed(queue)[0]
    reported(lease, "succeed")
    accepted = browser.post(path, form)

    assert "There is room." in roomy
    assert "There is no room now" in full
    assert "The queue is full." in refused.content.decode()
    assert refused.context["form"]["reason"].value() == form["reason"]
    assert accepted.status_code == 302
    assert len(successors(task)) == 1


def test_when_somebody_was_faster_the_successor_is_named_and_all_typed_stays():
    task = failed()
    browser = Browser()
    path = path_of(task, "/retry")
    form = browser.form(path, **another_try())
    child = retried(task).task

    response = browser.post(path, form)

    told = response.content.decode()
    assert "Nothing of yours was written." in told
    assert child.id.hex in told
    assert response.context["form"]["reason"].value() == form["reason"]
    assert [it.id for it in successors(task)] == [child.id]


def test_what_cannot_run_again_says_why_and_offers_no_form():
    task, _ = unsure()
    told = Browser().text(path_of(task, "/retry"))

    assert "Nobody knows whether it took effect: review the task first." in told
    assert "<textarea" not in told
