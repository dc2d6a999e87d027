"""The probe in the console: a button, and what it finds."""

import json

import pytest

from tasks_app.models import Evidence, Task
from tests.builders import claimed, reported
from tests.tasks_app.pages.builders import (
    RETRY,
    REVIEW,
    VIEW,
    Browser,
    a_form_key,
    failed,
    path_of,
    unsure,
)

pytestmark = pytest.mark.django_db(transaction=True)

BUTTON = "Start a probe"


def probe_of(task):
    return Task.objects.get(owner_kind="PROBE", owner_id=task.id)


def test_a_probe_is_started_followed_and_its_finding_shown():
    task, _ = unsure()
    browser = Browser()
    assert BUTTON in browser.text(path_of(task))

    browser.post(path_of(task, "/probe"), {"form_key": a_form_key()})
    running = browser.text(path_of(task))
    [lease] = claimed(task.queue, task_id=probe_of(task).id)
    found = {"effect": "NOT_APPLIED", "evidence_ref": "ledger: sequence 7"}
    reported(lease, "succeed", result=json.dumps(found))
    told = browser.text(path_of(task))

    assert BUTTON not in running
    assert "A probe of this task is not finished." in running
    assert "Probe: it did not take effect" in told
    assert "ledger: sequence 7" in told
    assert BUTTON in told
    assert Task.objects.get(id=task.id).state == "NEEDS_REVIEW"
    assert Evidence.objects.filter(task_id=task.id, kind="probe").count() == 1


def found(task, **finding):
    """The evidence that a probe of the task left."""
    Browser().post(path_of(task, "/probe"), {"form_key": a_form_key()})
    [lease] = claimed(task.queue, task_id=probe_of(task).id)
    reported(lease, "succeed", result=json.dumps(finding))
    return Evidence.objects.get(task_id=task.id, kind="probe")


BEGIN = "Begin a decision with this"


def test_a_decision_begins_with_a_finding_and_is_still_the_persons():
    task, _ = unsure()
    evidence = found(
        task, effect="APPLIED", evidence_ref="ledger:7", details={"entries": 2}
    )
    browser = Browser(VIEW, REVIEW)
    begun = path_of(task, f"/review?finding={evidence.id.hex}")

    told = browser.text(path_of(task))
    form = browser.get(begun).context["form"]

    assert BEGIN in told
    assert f"/review?finding={evidence.id.hex}" in told
    assert form["outcome"].value() == "SUCCEEDED"
    assert form["evidence_ref"].value() == "ledger:7"
    assert form["result"].value() == '{"entries": 2}'
    assert not form["reason"].value()
    assert not form["execution_settled"].value()
    typed = browser.form(begun, reason="I saw both entries.", execution_settled="on")
    browser.post(path_of(task, "/review"), typed)
    assert Task.objects.get(id=task.id).state == "SUCCEEDED"


@pytest.mark.parametrize("named", [{}, {"evidence_ref": "in the ledger, line 7"}])
def test_a_finding_without_a_usable_reference_is_referred_to_by_its_probe(named):
    task, _ = unsure()
    evidence = found(task, effect="NOT_APPLIED", **named)

    form = (
        Browser()
        .get(path_of(task, f"/review?finding={evidence.id.hex}"))
        .context["form"]
    )

    assert form["evidence_ref"].value() == f"probe:{probe_of(task).id.hex}"
    assert form["result"].value() == ""
    assert form["outcome"].value() == "FAILED"


def test_a_finding_that_proposes_nothing_begins_no_decision():
    task, _ = unsure()
    evidence = found(task, effect="UNKNOWN")
    browser = Browser()

    assert BEGIN not in browser.text(path_of(task))
    for wanted in (evidence.id.hex, "x", "7" * 32):
        form = browser.get(path_of(task, f"/review?finding={wanted}")).context["form"]
        assert form["outcome"].value() is None


def test_a_decision_is_offered_only_to_whom_it_is_open():
    task, _ = unsure()
    found(task, effect="APPLIED")

    assert BEGIN not in Browser(VIEW).text(path_of(task))


def test_a_double_click_starts_one_probe():
    task, _ = unsure()
    browser, key = Browser(), a_form_key()
    for _ in range(2):
        browser.post(path_of(task, "/probe"), {"form_key": key})
    assert probe_of(task)


@pytest.mark.parametrize("granted", [(VIEW,), (VIEW, RETRY), (REVIEW,)])
def test_who_may_not_review_starts_none(granted):
    task, _ = unsure()
    browser = Browser(*granted, is_superuser=False)

    answer = browser.post(path_of(task, "/probe"), {"form_key": a_form_key()})

    assert answer.status_code == 403
    assert not Task.objects.filter(owner_kind="PROBE").exists()
    if VIEW in granted:
        assert BUTTON not in browser.text(path_of(task))


def test_nothing_is_offered_where_nothing_waits():
    task = failed()
    browser = Browser()
    assert BUTTON not in browser.text(path_of(task))

    browser.post(path_of(task, "/probe"), {"form_key": a_form_key()})

    assert not Task.objects.filter(owner_kind="PROBE").exists()
    assert "is probed; this one is FAILED" in browser.text(path_of(task))
