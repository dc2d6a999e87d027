"""The pages of batch review: from the inbox to the file of what was refused."""

import csv
import io
import json
import re
from datetime import timedelta

import pytest

from orbit.ids import new_id
from tasks_app.models import OperationAudit, ReviewBatch, Task
from tasks_app.subscribers.review_batches import run_review_batches
from tests.builders import a_queue, a_task, pass_time, reviewed
from tests.tasks_app.pages.builders import RETRY, REVIEW, VIEW, Browser

pytestmark = pytest.mark.django_db(transaction=True)

EXACT = '{"sequence": 9007199254740993, "amount": 1.10}'


def uncertain(queue, count):
    return [a_task(state="NEEDS_REVIEW", queue=queue) for _ in range(count)]


def a_form(**changes):
    wanted = {
        "form_key": new_id().hex,
        "outcome": "FAILED",
        "result": EXACT,
        "reason": "The bank was down.",
        "evidence_ref": "ticket:77",
        "canary": "0",
        "execution_settled": "on",
        "tasks": "",
    }
    return {**wanted, **changes}


def created(browser, queue, **changes):
    """The batch that this form makes."""
    answer = browser.post(f"batches/new?queue={queue.id.hex}", a_form(**changes))
    assert answer.status_code == 302, answer.content.decode()
    return ReviewBatch.objects.get()


def test_where_a_review_takes_two_people_no_batch_is_offered():
    queue, browser = a_queue(second_approver=True), Browser()
    uncertain(queue, 2)
    path = f"batches/new?queue={queue.id.hex}"

    inbox = browser.text(f"?queue={queue.id.hex}")
    form = browser.text(path)
    answer = browser.post(path, a_form())

    assert "batches/new" not in inbox
    assert "propose its tasks one by one" in inbox
    assert "propose its tasks one by one" in form
    assert "Create the batch" not in form
    assert answer.status_code == 200
    assert not ReviewBatch.objects.exists()


def test_many_tasks_are_settled_from_the_inbox_to_the_end():
    queue, browser = a_queue(), Browser()
    tasks = uncertain(queue, 4)
    assert f"batches/new?queue={queue.id.hex}" in browser.text(f"?queue={queue.id.hex}")
    form = browser.text(f"batches/new?queue={queue.id.hex}")
    assert tasks[0].id.hex in form

    batch = created(browser, queue, canary="1")
    run_review_batches(limit=10)
    held = browser.text(f"batches/{batch.id.hex}")
    name = browser.person.user.username
    assert [it.partition(" · ")[0] for it in _acts(held)] == [name, "Orbit itself"]
    browser.post(f"batches/{batch.id.hex}/continue", {})
    run_review_batches(limit=10)
    run_review_batches(limit=10)

    assert "Waits for a person after the first ones" in held
    assert "9007199254740993, &quot;amount&quot;: 1.10" in held
    done = browser.text(f"batches/{batch.id.hex}")
    assert "Done" in done
    assert "<dt>Settled</dt><dd>4</dd>" in done
    assert {it.result for it in Task.objects.filter(queue=queue)} == {EXACT}
    actors = OperationAudit.objects.filter(action="task.review")
    assert {it.actor_id.int for it in actors} == {browser.person.user.pk}
    assert "The bank was down." in browser.text("batches")


def _acts(page):
    """Who did something with a batch, with the moment behind."""
    [acts] = re.findall("What was done with it</h2>(.*?)</ul>", page, re.DOTALL)
    return re.findall('<span class="quiet">([^<]*)<', acts)


def test_what_was_not_settled_is_a_file():
    queue, browser = a_queue(), Browser()
    first, second, _ = uncertain(queue, 3)
    owned = a_task(state="NEEDS_REVIEW", queue=queue, owner="WORKFLOW")
    batch = created(browser, queue)
    reviewed(first)
    run_review_batches(limit=10)

    told = csv.DictReader(
        io.StringIO(_file(browser, f"batches/{batch.id.hex}/items.csv"))
    )
    lines = _file(browser, f"batches/{batch.id.hex}/items.jsonl").splitlines()

    found = {row["task_id"]: row["state"] for row in told}
    assert found == {first.id.hex: "TAKEN", owned.id.hex: "REFUSED"}
    assert {json.loads(line)["task_id"] for line in lines} == set(found)
    listed = browser.text(f"batches/{batch.id.hex}?state=REFUSED")
    assert owned.id.hex in listed
    assert second.id.hex not in listed


def _file(browser, path):
    answer = browser.get(path)
    assert answer["Content-Disposition"].startswith("attachment;")
    return b"".join(answer.streaming_content).decode()


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"result": "{1.10"}, "id_result"),
        ({"reason": ""}, "Say why, in words."),
        ({"execution_settled": ""}, "Declare this, or do not settle the task."),
        ({"tasks": "not an id"}, "Line 1 does not begin with a task&#x27;s id."),
        ({"tasks": "a" * 32}, "does not await a review in this queue"),
        ({"canary": "101"}, "id_canary"),
    ],
)
def test_a_mistake_is_told_and_what_was_typed_stays(changes, told):
    queue, browser = a_queue(), Browser()
    uncertain(queue, 1)

    answer = browser.post(f"batches/new?queue={queue.id.hex}", a_form(**changes))

    page = answer.content.decode()
    assert answer.status_code == 200
    assert told in page
    assert "ticket:77" in page
    assert not ReviewBatch.objects.exists()


def test_tasks_may_be_named_with_evidence_of_their_own():
    queue, browser = a_queue(), Browser()
    first, second, third = uncertain(queue, 3)

    created(browser, queue, tasks=f"{first.id.hex} bank:1\n\n{second.id.hex}\n")
    run_review_batches(limit=10)

    found = OperationAudit.objects.filter(action="task.review")
    assert {it.task_id: it.evidence_ref for it in found} == {
        first.id: "bank:1",
        second.id: "ticket:77",
    }
    assert Task.objects.get(id=third.id).state == "NEEDS_REVIEW"


def test_a_cause_is_narrowed_by_error_and_age_before_it_is_decided():
    queue, browser = a_queue(), Browser()
    fresh, old = uncertain(queue, 2)
    pass_time(old.id, by=timedelta(hours=2))
    query = f"batches/new?queue={queue.id.hex}&code=OUTCOME_UNKNOWN&min_minutes=90"

    form = browser.text(query)
    browser.post(query, a_form())

    assert old.id.hex in form
    assert fresh.id.hex not in form
    assert "<dd>90</dd>" in form
    assert '<details class="more" open>' in form
    assert "code=OUTCOME_UNKNOWN&amp;min_minutes=90" in form, "the way back keeps it"
    told = browser.text(f"batches/{ReviewBatch.objects.get().id.hex}")
    assert "<dd>OUTCOME_UNKNOWN</dd>" in told
    assert "<dd>90</dd>" in told
    run_review_batches(limit=10)
    assert Task.objects.get(id=fresh.id).state == "NEEDS_REVIEW"
    assert Task.objects.get(id=old.id).state == "FAILED"


def test_a_form_that_is_sent_twice_makes_one_batch():
    queue, browser = a_queue(), Browser()
    uncertain(queue, 2)
    form = a_form()
    for _ in range(2):
        browser.post(f"batches/new?queue={queue.id.hex}", form)
    assert ReviewBatch.objects.count() == 1


def test_an_act_that_came_too_late_is_told():
    queue, browser = a_queue(), Browser()
    uncertain(queue, 1)
    batch = created(browser, queue)
    browser.post(f"batches/{batch.id.hex}/abort", {})

    browser.post(f"batches/{batch.id.hex}/pause", {})

    told = browser.text(f"batches/{batch.id.hex}")
    assert "The batch has moved on" in told


PAGES = {
    "batches": {VIEW},
    "batches/{id}": {VIEW},
    "batches/{id}/progress": {VIEW},
    "batches/{id}/items.csv": {VIEW},
    "batches/new?queue={queue}": {VIEW, REVIEW},
}


@pytest.mark.parametrize("path", PAGES)
def test_each_page_opens_for_its_permissions_and_for_no_fewer(client, path):
    queue = a_queue()
    uncertain(queue, 1)
    batch = created(Browser(), queue)
    at = path.format(id=batch.id.hex, queue=queue.id.hex)
    statuses = {
        granted: Browser(*granted, is_superuser=False).get(at).status_code
        for granted in ((), (VIEW,), (REVIEW,), (VIEW, RETRY), (VIEW, REVIEW))
    }
    assert statuses == {
        granted: 200 if PAGES[path] <= set(granted) else 403 for granted in statuses
    }
    assert client.get(f"/admin/recovery/{at}").status_code == 302


@pytest.mark.parametrize("granted", [(VIEW,), (REVIEW,), (VIEW, RETRY)])
def test_who_may_not_review_neither_creates_nor_steers(granted):
    queue = a_queue()
    uncertain(queue, 1)
    batch = created(Browser(), queue)
    browser = Browser(*granted, is_superuser=False)

    new = browser.post(f"batches/new?queue={queue.id.hex}", a_form())
    steered = browser.post(f"batches/{batch.id.hex}/abort", {})

    assert (new.status_code, steered.status_code) == (403, 403)
    if VIEW in granted:
        assert "/abort" not in browser.text(f"batches/{batch.id.hex}")
        assert "batches/new" not in browser.text(f"?queue={queue.id.hex}")


@pytest.mark.parametrize(
    "path",
    [
        f"batches/{'7' * 32}",
        f"batches/{'7' * 32}/items.csv",
        "batches/new",
        f"batches/new?queue={'7' * 32}",
        "batches/new?queue=x",
        "batches/new?queue={queue}&min_minutes=-1",
        "batches/new?queue={queue}&max_minutes=soon",
        "batches/new?queue={queue}&max_minutes=99999999",
    ],
)
def test_what_is_not_there_is_not_found(path):
    assert Browser().get(path.format(queue=a_queue().id.hex)).status_code == 404


def test_the_number_of_statements_does_not_grow(django_assert_num_queries):
    queue, browser = a_queue(), Browser()
    uncertain(queue, 2)
    batch = created(browser, queue)
    browser.get(f"batches/{batch.id.hex}")
    with django_assert_num_queries(9):
        browser.get(f"batches/{batch.id.hex}")
    with django_assert_num_queries(5):
        browser.get("batches")
