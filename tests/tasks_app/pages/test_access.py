"""Who may open which page of the console, and what is offered to whom."""

from itertools import chain, combinations
from uuid import UUID

import pytest

from tasks_app.models import Task
from tests.builders import reviewed
from tests.tasks_app.pages.builders import (
    PERMISSIONS,
    RETRY,
    REVIEW,
    ROOT,
    VIEW,
    VIEW_AUDIT,
    Browser,
    failed,
    path_of,
    unsure,
)

pytestmark = pytest.mark.django_db(transaction=True)

# Each page, and every permission that it asks for.
PAGES = {
    "": {VIEW},
    "overview": {VIEW},
    "contradictions": {VIEW},
    "batches": {VIEW},
    "batches/new?queue={queue}": {VIEW, REVIEW},
    "tasks/{id}": {VIEW},
    "tasks/{id}/standing": {VIEW},
    "tasks/{id}/payload": {VIEW},
    "tasks/{id}/review": {VIEW, REVIEW},
    "tasks/{id}/retry": {VIEW, RETRY},
}


# Each act of a form, and every permission that it asks for.
ACTS = {
    "views": {VIEW},
    "views/{id}/forget": {VIEW},
    "tasks/{id}/probe": {VIEW, REVIEW},
    "tasks/{id}/review": {VIEW, REVIEW},
    "tasks/{id}/approve": {VIEW, REVIEW},
    "tasks/{id}/withdraw": {VIEW, REVIEW},
    "tasks/{id}/retry": {VIEW, RETRY},
    "batches/new": {VIEW, REVIEW},
    "batches/{id}/pause": {VIEW, REVIEW},
}


def at(path, task):
    """The address of one of these for the task."""
    return path.format(id=task.id.hex, queue=task.queue_id.hex)


def test_each_act_is_open_for_its_permissions_and_for_no_fewer():
    task, _ = unsure()
    groups = chain([()], *(combinations(PERMISSIONS, size) for size in (1, 2, 3)))
    refused = {}
    for permissions in groups:
        browser = Browser(*permissions, is_superuser=False)
        for path in ACTS:
            status = browser.post(at(path, task), {}).status_code
            assert status < 500
            refused[path, permissions] = status == 403

    assert refused == {
        (path, permissions): not ACTS[path] <= set(permissions)
        for path, permissions in refused
    }
    assert Task.objects.get(id=task.id).revision == task.revision


@pytest.mark.parametrize("path", PAGES)
def test_a_stranger_is_sent_to_the_login(client, path):
    task, _ = unsure()

    response = client.get(ROOT + at(path, task))

    assert response.status_code == 302
    assert response["Location"].startswith("/admin/login/?next=/admin/recovery/")


def test_each_page_opens_for_its_permissions_and_for_no_fewer():
    task, _ = unsure()
    groups = chain([()], combinations(PERMISSIONS, 1), [(VIEW, REVIEW), (VIEW, RETRY)])
    opened = {}
    for permissions in groups:
        browser = Browser(*permissions, is_superuser=False)
        for path in PAGES:
            status = browser.get(at(path, task)).status_code
            opened[path, permissions] = status

    assert opened == {
        (path, permissions): 200 if needed <= set(permissions) else 403
        for path, permissions in opened
        for needed in [PAGES[path]]
    }


def test_a_superuser_gets_in_everywhere_and_nothing_may_be_stored():
    task, _ = unsure()
    browser = Browser()
    answers = [browser.get(at(path, task)) for path in PAGES]

    assert {it.status_code for it in answers} == {200}
    assert {it["Cache-Control"] for it in answers} == {"no-store"}


def test_who_is_not_staff_gets_in_nowhere():
    task, _ = unsure()
    browser = Browser(*PERMISSIONS, is_staff=False)

    statuses = {browser.get(at(path, task)).status_code for path in PAGES}

    assert statuses == {403}


def test_a_page_of_no_task_is_not_found():
    browser = Browser()

    statuses = {
        browser.get(path.format(id=UUID(int=7).hex)).status_code
        for path in PAGES
        if "{id}" in path
    }

    assert statuses == {404}


def test_a_form_without_its_csrf_token_does_nothing():
    task, _ = unsure()
    browser = Browser()
    browser.person.csrf = ""

    assert browser.post(path_of(task, "/review"), {}).status_code == 403


@pytest.mark.parametrize(
    ("permissions", "offered"),
    [((VIEW,), ""), ((VIEW, RETRY), ""), ((VIEW, REVIEW), "/review")],
)
def test_settling_is_offered_to_whom_it_is_open(permissions, offered):
    task, _ = unsure()
    told = Browser(*permissions).text(path_of(task))

    assert ("/review" in told) == bool(offered)
    assert "/retry" not in told
    assert ("that is a permission of its own" in told) == (not offered)


@pytest.mark.parametrize("permissions", [(VIEW,), (VIEW, REVIEW), (VIEW, RETRY)])
def test_running_again_is_offered_to_whom_it_is_open(permissions):
    told = Browser(*permissions).text(path_of(failed()))

    assert ("/retry" in told) == (RETRY in permissions)
    assert "/review" not in told


def test_nothing_is_offered_that_the_act_would_refuse():
    task, _ = unsure(owner="WORKFLOW")
    told = Browser().text(path_of(task))
    form = Browser().text(path_of(task, "/review"))

    assert "/review" not in told
    assert "recover it through that owner" in told
    assert "This task cannot be settled now." in form
    assert "<textarea" not in form


def test_the_audit_is_told_to_whom_may_read_it():
    task, _ = unsure()
    reviewed(task, reason="looked at the ledger")

    without = Browser(VIEW).text(path_of(task))
    told = Browser(VIEW, VIEW_AUDIT).text(path_of(task))

    assert "looked at the ledger" not in without
    assert "Operations" not in without
    assert told.count("looked at the ledger") == 2
    assert "&quot;execution_settled&quot;:true" in told


def test_the_console_is_linked_where_people_are():
    links = {
        permission: f'href="{ROOT}"'
        in Browser(permission).person.client.get(path).content.decode()
        for path, permission in (
            ("/admin/", VIEW),
            ("/workbench/tokens/", "tokens_app.view_serviceaccounttoken"),
        )
    }
    both = Browser(VIEW, "tokens_app.view_serviceaccounttoken").person.client

    assert links == {VIEW: True, "tokens_app.view_serviceaccounttoken": False}
    assert f'href="{ROOT}"' in both.get("/workbench/tokens/").content.decode()
