"""Suspending a token and resuming it."""

import pytest

from tests.tokens_app.builders import SOMEBODY, a_token, acts_on, call
from tokens_app.public import (
    TokenNotActive,
    TokenRejected,
    resume_token,
    revoke_token,
    suspend_token,
)

pytestmark = pytest.mark.django_db


def test_a_suspended_token_is_refused_until_it_is_resumed():
    issued = a_token()

    suspend_token(token_id=issued.token_id, by=SOMEBODY, reason="odd traffic")
    with pytest.raises(TokenRejected) as refusal:
        call(issued.plaintext)
    resume_token(token_id=issued.token_id, by=SOMEBODY, reason="explained")

    assert refusal.value.details == {"reason": "token_suspended"}
    assert call(issued.plaintext).scopes
    assert acts_on(issued) == ["token.issue", "token.suspend", "token.resume"]


def test_suspending_or_resuming_twice_is_told_once():
    issued = a_token()

    for act in (suspend_token, suspend_token, resume_token, resume_token):
        act(token_id=issued.token_id, by=SOMEBODY, reason="twice")

    assert acts_on(issued) == ["token.issue", "token.suspend", "token.resume"]


@pytest.mark.parametrize("act", [suspend_token, resume_token])
def test_a_revoked_token_stays_revoked(act):
    issued = a_token()
    revoke_token(token_id=issued.token_id, by=SOMEBODY, reason="left")

    with pytest.raises(TokenNotActive):
        act(token_id=issued.token_id, by=SOMEBODY, reason="again")

    with pytest.raises(TokenRejected):
        call(issued.plaintext)
