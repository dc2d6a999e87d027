"""The workbench's pages: who gets in, what they say, and that nothing is kept."""

from uuid import UUID

import pytest

from orbit.ids import new_id
from tests.tokens_app.api.builders import OWN_RIGHTS, a_person
from tests.tokens_app.builders import acts_on, row_of
from tokens_app.models import ServiceAccountToken

pytestmark = pytest.mark.django_db(transaction=True)

ROOT = "/workbench/tokens"
VIEW = "tokens_app.view_serviceaccounttoken"
# Each page of a token, and the permission that it asks for.
PAGES = {
    "/": VIEW,
    "/guide": VIEW,
    "/new": "tokens_app.issue_token",
    "/{id}": VIEW,
    "/{id}/guide": VIEW,
    "/{id}/edit": "tokens_app.edit_token",
    "/{id}/rotate": "tokens_app.rotate_token",
    "/{id}/suspend": "tokens_app.suspend_token",
    "/{id}/resume": "tokens_app.suspend_token",
    "/{id}/revoke": "tokens_app.revoke_token",
}
PERMISSIONS = sorted({*PAGES.values(), "tokens_app.view_tokenaudit"})


def issue_form(**changes):
    """What the browser sends for a token on the group `billing`."""
    wanted = {
        "name": "Partner",
        "scopes": ["jobs:read", "jobs:trigger"],
        "job_groups": ["billing"],
        "lifetime": "90",
        "form_key": new_id().hex,
    }
    return {**wanted, **changes}


class Browser:
    """Somebody's browser at the pages."""

    def __init__(self, *permissions, **user):
        self.person = a_person(*permissions, **user)

    def get(self, path, **headers):
        """One page."""
        return self.person.client.get(f"{ROOT}{path}", headers=headers)

    def post(self, path, data, *, has_csrf=True):
        """One form."""
        token = {"csrfmiddlewaretoken": self.person.csrf} if has_csrf else {}
        return self.person.client.post(f"{ROOT}{path}", {**data, **token})


def at(path, issued):
    """The page's address for this token."""
    return path.format(id=issued.token_id.hex)


@pytest.mark.parametrize("path", PAGES)
def test_a_stranger_is_sent_to_the_login(client, place, path):
    issued = place.token(place.job())

    response = client.get(f"{ROOT}{at(path, issued)}")

    assert response.status_code == 302
    assert response["Location"].startswith("/admin/login/?next=/workbench/tokens/")


def test_each_page_opens_for_its_permission_and_for_no_other(place):
    issued = place.token(place.job())
    opened = {}
    for permission in PERMISSIONS:
        browser = Browser(permission)
        for path in PAGES:
            status = browser.get(at(path, issued)).status_code
            opened[path, permission] = status

    assert opened == {
        (path, permission): 200 if permission == needed else 403
        for path, needed in PAGES.items()
        for permission in PERMISSIONS
    }


def test_who_is_not_staff_gets_in_nowhere(place):
    issued = place.token(place.job())
    browser = Browser(*PERMISSIONS, is_staff=False)

    assert {browser.get(at(path, issued)).status_code for path in PAGES} == {403}


def test_a_form_without_its_csrf_token_does_nothing(place):
    issued = place.token(place.job())
    browser = Browser(is_superuser=True)

    response = browser.post(
        at("/{id}/revoke", issued), {"reason": "Why not"}, has_csrf=False
    )

    assert response.status_code == 403
    assert row_of(issued).status == "ACTIVE"


def test_no_page_may_be_stored(place):
    issued = place.token(place.job())
    browser = Browser(is_superuser=True)

    kept = {browser.get(at(path, issued))["Cache-Control"] for path in PAGES}

    assert kept == {"no-store"}


def test_issuing_answers_the_secret_once(place):
    place.job()
    browser = Browser("tokens_app.issue_token", VIEW, *OWN_RIGHTS)
    form = issue_form()

    first = browser.post("/new", form)
    second = browser.post("/new", form)

    token = ServiceAccountToken.objects.get()
    assert first.status_code == 201
    assert f"fja_{token.key_id}_" in first.content.decode()
    assert first["Cache-Control"] == "no-store"
    assert second.status_code == 200
    assert f"fja_{token.key_id}_" not in second.content.decode()
    assert token.id.hex in second.content.decode()


def test_a_page_of_no_token_is_not_found():
    browser = Browser(is_superuser=True)

    statuses = {
        browser.get(path.format(id=UUID(int=7).hex)).status_code
        for path in PAGES
        if "{id}" in path
    }

    assert statuses == {404}


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("?filter=none", 404),
        ("?after=forged", 400),
        ("?q=%00", 200),
        ("?filter=revoked&q=x", 200),
    ],
)
def test_the_list_s_address_is_read_strictly(query, status):
    assert Browser(VIEW).get(f"/{query}").status_code == status


def test_the_list_shows_what_is_searched_and_goes_on_page_by_page(place):
    job = place.job()
    for number in range(30):
        place.token(job, name=f"caller {number:02}")
    browser = Browser(VIEW)

    first = browser.get("/?q=caller")
    second = browser.get(f"/?q=caller&after={first.context['next']}")

    names = [row.token.name for page in (first, second) for row in page.context["rows"]]
    assert names == [f"caller {number:02}" for number in range(29, -1, -1)]
    assert second.context["next"] is None


def test_editing_in_an_old_state_is_refused_and_keeps_what_was_typed(place):
    issued = place.token(place.job())
    browser = Browser(is_superuser=True)
    form = {
        "name": "Renamed",
        "lifetime": "keep",
        "job_ids": [it.hex for it in row_of(issued).range.job_ids],
        "seen_updated_at": row_of(issued).updated_at.isoformat(),
    }
    browser.post(at("/{id}/edit", issued), {**form, "name": "Faster"})

    response = browser.post(at("/{id}/edit", issued), form)

    assert response.status_code == 200
    assert "Somebody changed this token since" in response.content.decode()
    assert 'value="Renamed"' in response.content.decode()
    assert row_of(issued).name == "Faster"
    assert acts_on(issued) == ["token.issue", "token.edit"]


def test_the_pages_speak_the_browser_s_language(place):
    issued = place.token(place.job())
    browser = Browser(is_superuser=True)

    chinese = browser.get(at("/{id}", issued), accept_language="zh-CN")
    english = browser.get(at("/{id}", issued), accept_language="fr")

    assert "资源范围" in chinese.content.decode()
    assert chinese["Content-Language"] == "zh-hans"
    assert "Range" in english.content.decode()
    assert english["Content-Language"] == "en"
