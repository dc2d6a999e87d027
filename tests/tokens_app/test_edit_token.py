"""Editing a token, and grants that are bounded by a user's own rights."""

from datetime import timedelta

import pytest

from orbit.ids import new_id
from tests.tokens_app.builders import (
    SOMEBODY,
    a_grant,
    a_token,
    acts_on,
    age,
    at_once,
    row_of,
)
from tokens_app.domain.errors import (
    RangeNotGrantable,
    TokenAlreadyIssued,
    TokenChanged,
)
from tokens_app.models import ServiceAccountToken, TokenAudit
from tokens_app.models.grants import grantable
from tokens_app.public import (
    Actor,
    IssuedToken,
    TokenEdit,
    TokenInvalid,
    TokenNotActive,
    TokenNotFound,
    TokenRange,
    edit_token,
    issue_token,
)


def edit(issued, **changes):
    """Change the token."""
    edit_token(token_id=issued.token_id, edit=TokenEdit(**changes), by=SOMEBODY)


@pytest.mark.django_db
def test_only_what_is_named_changes():
    queue_id = new_id()
    issued = a_token(queue_ids=(queue_id,), description="old", owner_contact="a@b")
    before = row_of(issued)

    edit(issued, description="new")

    after = row_of(issued)
    assert after.description == "new"
    for name in (
        "name",
        "owner_contact",
        "queue_ids",
        "expires_at",
        "digest",
        "scopes",
    ):
        assert getattr(after, name) == getattr(before, name)
    assert TokenAudit.objects.get(action="token.edit").changes == {
        "description": {"from": "old", "to": "new"}
    }


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"name": " "}, "name"),
        ({"name": "x" * 121}, "name"),
        ({"description": "\0"}, "description"),
        ({"queue_ids": ()}, "queue_ids"),
        ({"job_groups": ("billing",)}, "job_groups"),
        ({"expires": timedelta(days=-1)}, "expires"),
        ({"expires": timedelta(days=9999)}, "expires"),
        ({"reads_per_minute": 100_001}, "reads_per_minute"),
    ],
)
def test_a_broken_rule_names_its_field_and_changes_nothing(changes, field):
    issued = a_token(queue_ids=(new_id(),))
    before = row_of(issued).updated_at

    with pytest.raises(TokenInvalid) as refusal:
        edit(issued, **changes)

    assert refusal.value.field == field
    assert row_of(issued).updated_at == before
    assert acts_on(issued) == ["token.issue"]


@pytest.mark.django_db
def test_an_expired_token_is_not_brought_back():
    issued = a_token(expires=timedelta(hours=1))
    age(issued.token_id, by=timedelta(hours=1))

    with pytest.raises(TokenNotActive):
        edit(issued, expires=timedelta(days=9))
    with pytest.raises(TokenNotFound):
        edit_token(token_id=new_id(), edit=TokenEdit(name="x"), by=SOMEBODY)


@pytest.mark.django_db(transaction=True)
def test_of_editors_at_the_same_moment_one_wins():
    issued = a_token()
    seen = row_of(issued).updated_at

    outcomes = at_once(6, lambda: edit(issued, name=new_id().hex, seen_updated_at=seen))

    assert outcomes.count(None) == 1
    assert sum(isinstance(it, TokenChanged) for it in outcomes) == 5
    assert acts_on(issued) == ["token.issue", "token.edit"]


@pytest.mark.django_db(transaction=True)
def test_one_form_sent_at_the_same_moment_issues_one_token():
    grant = a_grant(form_key=new_id())

    outcomes = at_once(6, lambda: issue_token(grant=grant, by=SOMEBODY))

    assert sum(isinstance(it, IssuedToken) for it in outcomes) == 1
    assert sum(isinstance(it, TokenAlreadyIssued) for it in outcomes) == 5
    assert ServiceAccountToken.objects.count() == 1


@pytest.mark.django_db
def test_a_user_grants_nothing_where_nobody_says_what_they_may():
    wanted = TokenRange(namespace_id=new_id(), queue_ids=(new_id(),))

    assert grantable(wanted, audience="NOWHERE", scopes=frozenset(), user_id=1).is_empty
    with pytest.raises(RangeNotGrantable) as refusal:
        issue_token(
            grant=a_grant(namespace_id=wanted.namespace_id, queue_ids=wanted.queue_ids),
            by=Actor(name="user:nobody", user_id=2**31 - 1),
        )
    assert refusal.value.field == "queue_ids"
    assert not ServiceAccountToken.objects.exists()
