"""A queue that wants two people: one proposes in the console, another approves."""

import re

import pytest

from tasks_app.models import OperationAudit, Task
from tests.builders import a_queue
from tests.tasks_app.pages.builders import VIEW, Browser, a_decision, path_of, unsure

pytestmark = pytest.mark.django_db(transaction=True)

EXACT = '{"paid":9007199254740993,"price":1.10}'


def standing(task):
    """State, revision and result as they are now."""
    return Task.objects.values_list("state", "revision", "result").get(id=task.id)


def proposed():
    """A task, with a decision that somebody has proposed."""
    task, _ = unsure(queue=a_queue(second_approver=True))
    browser = Browser()
    path = path_of(task, "/review")
    answer = browser.post(path, browser.form(path, **a_decision(result=EXACT)))
    assert answer.status_code == 302
    return task, browser


def buttons(page, name):
    """What the form of this button sends, or None where there is no such button."""
    found = re.search(rf'<form [^>]*/{name}" .*?</form>', page, re.DOTALL)
    if found is None:
        return None
    return dict(re.findall(r'name="(\w+)" value="([^"]*)"', found[0]))


def test_a_decision_is_proposed_and_the_task_stays():
    task, proposer = proposed()

    told = proposer.text(path_of(task))

    assert standing(task) == ("NEEDS_REVIEW", 3, None)
    assert "Proposed. Another person can approve it now." in told
    assert EXACT.replace('"', "&quot;") in told
    assert buttons(told, "approve") is None
    assert buttons(told, "withdraw") is not None
    assert "/review" not in told
    assert "Settle for good" not in proposer.text(path_of(task, "/review"))


def test_another_person_approves_and_twice_is_once():
    task, first = proposed()
    second = Browser()
    form = buttons(second.text(path_of(task)), "approve")

    for _ in range(2):
        second.post(path_of(task, "/approve"), form)

    assert standing(task) == ("FAILED", 4, EXACT)
    told = second.text(path_of(task))
    assert "The task is settled." in told
    people = f"{first.person.user.username}, {second.person.user.username}"
    assert f"Settled by {people}" in told
    assert "Settled by two people" in told
    assert OperationAudit.objects.filter(task_id=task.id, revision=4).count() == 1


def test_a_proposal_is_withdrawn_and_another_can_be_made():
    task, proposer = proposed()

    form = buttons(proposer.text(path_of(task)), "withdraw")
    proposer.post(path_of(task, "/withdraw"), form)

    told = proposer.text(path_of(task))
    assert "The proposal is withdrawn." in told
    assert f'href="/admin/recovery/{path_of(task, "/review")}"' in told
    assert standing(task) == ("NEEDS_REVIEW", 3, None)


def test_the_proposer_cannot_approve_by_hand_and_is_told():
    task, proposer = proposed()
    page = proposer.text(path_of(task))
    form = {**buttons(page, "withdraw"), "expected_revision": "3"}

    proposer.post(path_of(task, "/approve"), form)

    assert "another person must approve it" in proposer.text(path_of(task))
    assert standing(task) == ("NEEDS_REVIEW", 3, None)


def test_who_may_only_look_is_offered_no_button():
    task, _ = proposed()
    browser = Browser(VIEW)

    told = browser.text(path_of(task))

    assert "Proposed decision" in told
    assert buttons(told, "approve") is None
    assert browser.post(path_of(task, "/approve"), {}).status_code == 403
    assert browser.post(path_of(task, "/withdraw"), {}).status_code == 403
