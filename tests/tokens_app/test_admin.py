"""The admin shows tokens and their audit, without digests, and changes nothing."""

import pytest
from django.contrib.auth import get_user_model
from django.urls import reverse

from tests.tokens_app.builders import a_token, row_of
from tokens_app.models import TokenAudit

pytestmark = pytest.mark.django_db
BACKEND = "django.contrib.auth.backends.ModelBackend"


@pytest.fixture
def admin(client):
    """A browser in which an administrator is signed in."""
    user = get_user_model().objects.create_superuser("ada")
    client.force_login(user, backend=BACKEND)
    return client


def test_a_token_is_shown_without_its_digest(admin):
    row = row_of(a_token(name="billing"))
    name = "admin:tokens_app_serviceaccounttoken"

    listed = admin.get(reverse(f"{name}_changelist")).content.decode()
    shown = admin.get(reverse(f"{name}_change", args=[row.id])).content.decode()

    for page in (listed, shown):
        assert row.display_prefix in page
        assert bytes(row.digest).hex() not in page
        assert str(row.digest) not in page
    assert "igest" not in shown
    assert "epper" not in shown


@pytest.mark.parametrize("model", ["serviceaccounttoken", "tokenaudit"])
def test_nothing_is_added_changed_or_deleted(admin, model):
    issued = a_token()
    kept = {
        "serviceaccounttoken": issued.token_id,
        "tokenaudit": TokenAudit.objects.get().id,
    }
    name = f"admin:tokens_app_{model}"

    answers = [
        admin.post(reverse(f"{name}_add"), {}),
        admin.post(reverse(f"{name}_change", args=[kept[model]]), {}),
        admin.post(reverse(f"{name}_delete", args=[kept[model]]), {"post": "yes"}),
    ]

    assert [answer.status_code for answer in answers] == [403, 403, 403]
