"""Revoking a token: at once, for ever, and told once."""

import pytest

from orbit.ids import new_id
from tests.tokens_app.builders import SOMEBODY, a_token, acts_on, call, row_of
from tokens_app.public import (
    Actor,
    TokenInvalid,
    TokenNotFound,
    TokenRejected,
    revoke_token,
)

pytestmark = pytest.mark.django_db


def test_a_revoked_token_is_refused_for_ever():
    issued = a_token()

    at = revoke_token(token_id=issued.token_id, by=SOMEBODY, reason="contract ended")

    with pytest.raises(TokenRejected):
        call(issued.plaintext)
    row = row_of(issued)
    assert (row.status, row.revoked_at, row.revoked_by) == ("REVOKED", at, "user:ada")
    assert row.revoked_reason == "contract ended"
    assert acts_on(issued) == ["token.issue", "token.revoke"]


def test_revoking_again_keeps_the_first_moment_actor_and_reason():
    issued = a_token()
    first = revoke_token(token_id=issued.token_id, by=SOMEBODY, reason="first")

    again = revoke_token(
        token_id=issued.token_id, by=Actor(name="user:bob"), reason="second"
    )

    assert again == first
    assert row_of(issued).revoked_reason == "first"
    assert acts_on(issued) == ["token.issue", "token.revoke"]


@pytest.mark.parametrize("reason", ["", " ", "x" * 1025, "a\0b"])
def test_a_revocation_needs_a_reason(reason):
    issued = a_token()

    with pytest.raises(TokenInvalid) as refusal:
        revoke_token(token_id=issued.token_id, by=SOMEBODY, reason=reason)

    assert refusal.value.field == "reason"
    assert call(issued.plaintext).scopes


def test_an_unknown_token_is_not_found():
    with pytest.raises(TokenNotFound):
        revoke_token(token_id=new_id(), by=SOMEBODY, reason="gone")
