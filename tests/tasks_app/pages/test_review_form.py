"""The form of a review: once, exactly as typed, and never over somebody's head."""

import json

import pytest

from tasks_app.models import Evidence, OperationAudit, Task
from tests.builders import a_queue, reported, reviewed
from tests.tasks_app.pages.builders import (
    Browser,
    a_decision,
    path_of,
    unsure,
)

pytestmark = pytest.mark.django_db(transaction=True)

EXACT = '{"amount": 1.10, "id": 9007199254740993, "limit": 1E400}'


def standing(task):
    """State, revision and result as they are now."""
    return Task.objects.values_list("state", "revision", "result").get(id=task.id)


def reviews(task):
    """The reviews that the audit has of the task."""
    return OperationAudit.objects.filter(task_id=task.id, action="task.review")


def test_a_review_is_written_as_it_was_typed_by_the_signed_in_user():
    task, _ = unsure()
    browser = Browser()
    path = path_of(task, "/review")

    response = browser.post(path, browser.form(path, **a_decision(result=EXACT)))

    assert response.status_code == 302
    assert response["Location"] == f"/admin/recovery/{path_of(task)}"
    assert standing(task) == ("FAILED", 4, EXACT)
    [audit] = reviews(task)
    assert (audit.actor_kind, audit.actor_id.int) == ("USER", browser.person.user.pk)
    assert json.loads(audit.after)["dossier_digest"]
    told = browser.text(path_of(task))
    assert "The task is settled." in told
    assert browser.person.user.username in told


def test_sending_the_form_twice_settles_once():
    task, _ = unsure()
    browser = Browser()
    path = path_of(task, "/review")
    form = browser.form(path, **a_decision())

    statuses = [browser.post(path, form).status_code for _ in range(2)]

    assert statuses == [302, 302]
    assert reviews(task).count() == 1
    assert "This form was sent before" in browser.text(path_of(task))


def test_the_script_that_sends_a_form_is_told_where_to_go_on():
    task, _ = unsure()
    browser = Browser()
    path = path_of(task, "/review")
    form = browser.form(path, **a_decision())

    response = browser.post(path, form, x_orbit_form="1")

    assert response.status_code == 200
    assert f'data-next="/admin/recovery/{path_of(task)}"' in response.content.decode()


@pytest.mark.parametrize(
    ("typed", "field", "told"),
    [
        ({"result": "{"}, "result", "The JSON ends too early"),
        ({"result": '{"a":1,"a":2}'}, "result", "appears twice"),
        ({"result": "NaN"}, "result", "A JSON value is missing"),
        ({"result": '1,"outcome":"SUCCEEDED"'}, "result", "Something follows"),
        ({"result": "null"}, "result", "null is not a result"),
        ({"result": f'"{"x" * 262_144}"'}, "result", "at most 262144 are kept"),
        ({"result": " "}, "result", "State the conclusion as JSON."),
        ({"reason": " "}, "reason", "Say why"),
        ({"reason": "x" * 1_025}, "reason", "1024"),
        ({"evidence_ref": "a b"}, "evidence_ref", "no white space"),
        ({"outcome": ""}, "outcome", "Choose what you found."),
        ({"execution_settled": ""}, "execution_settled", "Declare this"),
        ({"expected_revision": "x"}, "expected_revision", "not acceptable"),
    ],
)
def test_a_mistake_is_told_beside_its_field_and_nothing_is_lost(typed, field, told):
    task, _ = unsure()
    browser = Browser()
    path = path_of(task, "/review")
    wanted = {**a_decision(), **typed}

    response = browser.post(path, browser.form(path, **wanted))

    form = response.context["form"]
    assert list(form.errors) == [field]
    assert told in form.errors[field][0]
    kept = {name: form[name].value() for name in ("reason", "evidence_ref", "result")}
    assert kept == {name: wanted[name] for name in kept}
    assert standing(task) == ("NEEDS_REVIEW", 3, None)


def test_when_somebody_was_faster_nothing_is_written_and_all_typed_stays():
    task, _ = unsure()
    browser = Browser()
    path = path_of(task, "/review")
    form = browser.form(path, **a_decision(outcome="SUCCEEDED", result=EXACT))
    reviewed(task, reason="was faster")

    response = browser.post(path, form)

    told = response.content.decode()
    assert "Somebody was faster. Nothing of yours was written." in told
    assert "was faster" in told
    assert response.context["form"]["result"].value() == EXACT
    assert response.context["form"]["reason"].value() == form["reason"]
    assert "Send again, knowing" not in told
    assert standing(task)[:2] == ("FAILED", 4)
    assert reviews(task).count() == 1


def test_late_evidence_is_shown_and_the_form_can_be_sent_again_knowing_it():
    task, lease = unsure()
    browser = Browser()
    path = path_of(task, "/review")
    form = browser.form(path, **a_decision())
    reported(lease, "succeed", result='{"paid":1.10}')

    refused = browser.post(path, form)
    after = {name: refused.context["form"][name].value() for name in form}
    again = {**after, "execution_settled": "on"}
    answer = browser.post(path, again)

    [evidence] = Evidence.objects.filter(task_id=task.id)
    assert [it.id for it in refused.context["difference"].new_reports] == [evidence.id]
    told = refused.content.decode()
    assert "New evidence came while you were writing. Nothing was written." in told
    assert "Send again, knowing this" in told
    assert {n: v for n, v in after.items() if n != "dossier_digest"} == {
        **{n: v for n, v in form.items() if n != "dossier_digest"},
        "expected_revision": 3,
        "execution_settled": False,
    }
    assert after["dossier_digest"] != form["dossier_digest"]
    assert answer.status_code == 302
    assert standing(task)[:2] == ("FAILED", 4)


def test_a_mistake_in_a_form_that_came_too_late_loses_nothing_either():
    task, _ = unsure()
    browser = Browser()
    path = path_of(task, "/review")
    form = browser.form(path, **a_decision(evidence_ref=""))
    reviewed(task)

    told = browser.post(path, form).content.decode()

    assert f">\n{form['reason']}</textarea>" in told
    assert "This task cannot be settled now." in told
    assert "Say where your proof lies." in told
    assert "Settle for good" not in told


def test_a_check_foretells_and_writes_nothing():
    task, _ = unsure()
    browser = Browser()
    path = path_of(task, "/review")
    form = browser.form(path, **a_decision())

    response = browser.post(path, {**form, "preview": "1"})

    told = response.content.decode()
    assert "Checked: this would be accepted." in told
    assert (
        "&quot;state&quot;:&quot;FAILED&quot;,&quot;revision&quot;:&quot;4&quot;"
        in told
    )
    assert standing(task) == ("NEEDS_REVIEW", 3, None)
    assert browser.post(path, form).status_code == 302


def test_the_room_that_a_review_makes_is_told_beforehand():
    task, _ = unsure(queue=a_queue(max_outstanding=7))

    told = Browser().text(path_of(task, "/review"))

    assert "One place in the queue is freed; 6 are free now." in told


def test_a_key_that_did_something_else_is_told():
    task, _ = unsure()
    browser = Browser()
    path = path_of(task, "/review")
    form = browser.form(path, **a_decision())
    browser.post(path, form)

    response = browser.post(path, {**form, "reason": "Another reason."})

    assert ">\nAnother reason.</textarea>" in response.content.decode()
    assert "This form was sent before with other content, and that was done." in (
        response.content.decode()
    )
    assert reviews(task).get().reason == form["reason"]
