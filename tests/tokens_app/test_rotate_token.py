"""Rotating a token: one new secret, at most one old one, and for how long."""

from datetime import timedelta

import pytest

from tests.tokens_app.builders import (
    SOMEBODY,
    a_token,
    acts_on,
    age,
    at_once,
    call,
    row_of,
)
from tokens_app.models import TokenAudit
from tokens_app.public import (
    IssuedToken,
    Rotation,
    RotationReason,
    TokenAlreadyRotated,
    TokenInvalid,
    TokenNotActive,
    TokenRejected,
    revoke_token,
    rotate_token,
    suspend_token,
)

HOUR = timedelta(hours=1)


def rotate(issued, *, seen=0, overlap=timedelta(0), reason=RotationReason.ROUTINE):
    """The next secret of this token."""
    rotation = Rotation(expected_rotation_count=seen, reason=reason, overlap=overlap)
    return rotate_token(token_id=issued.token_id, rotation=rotation, by=SOMEBODY)


def is_accepted(issued):
    """Whether this secret opens the door."""
    try:
        call(issued.plaintext)
    except TokenRejected:
        return False
    return True


@pytest.mark.django_db
def test_without_overlap_the_old_secret_dies_at_once():
    first = a_token()

    second = rotate(first)

    assert not is_accepted(first)
    assert is_accepted(second)
    assert (second.token_id, second.key_id) == (first.token_id, first.key_id)
    assert second.expires_at == first.expires_at


@pytest.mark.django_db
@pytest.mark.parametrize("overlap", [HOUR, 24 * HOUR, 7 * 24 * HOUR])
def test_with_overlap_both_secrets_work_until_it_is_over(overlap):
    first = a_token()
    second = rotate(first, overlap=overlap)
    before = is_accepted(first), is_accepted(second)

    age(first.token_id, by=overlap - timedelta(minutes=1))
    almost_over = is_accepted(first), is_accepted(second)
    age(first.token_id, by=timedelta(minutes=1))

    assert before == almost_over == (True, True)
    assert (is_accepted(first), is_accepted(second)) == (False, True)


@pytest.mark.django_db
def test_a_third_secret_never_lives():
    first = a_token()
    second = rotate(first, overlap=HOUR)

    third = rotate(first, seen=1, overlap=HOUR)

    assert not is_accepted(first)
    assert is_accepted(second)
    assert is_accepted(third)


@pytest.mark.django_db
def test_a_rotation_without_overlap_ends_an_overlap_too():
    first = a_token()
    second = rotate(first, overlap=HOUR)

    third = rotate(first, seen=1)

    assert [is_accepted(token) for token in (first, second, third)] == [
        False,
        False,
        True,
    ]


@pytest.mark.django_db
def test_secrets_of_two_peppers_overlap(settings):
    old, new = "p1:" + "o" * 32, "p2:" + "n" * 32
    settings.TOKEN_PEPPERS = old
    first = a_token()
    settings.TOKEN_PEPPERS = f"{new},{old}"

    second = rotate(first, overlap=HOUR)

    assert is_accepted(first)
    assert is_accepted(second)


@pytest.mark.django_db
def test_a_leaked_secret_has_no_overlap():
    issued = a_token()

    with pytest.raises(TokenInvalid) as refusal:
        rotate(issued, overlap=HOUR, reason=RotationReason.LEAKED)

    assert refusal.value.field == "overlap"
    assert is_accepted(issued)
    assert is_accepted(rotate(issued, reason=RotationReason.LEAKED))
    assert not is_accepted(issued)


@pytest.mark.django_db
@pytest.mark.parametrize("overlap", [timedelta(hours=2), timedelta(hours=-1)])
def test_no_other_overlap_can_be_chosen(overlap):
    with pytest.raises(TokenInvalid) as refusal:
        rotate(a_token(), overlap=overlap)

    assert refusal.value.field == "overlap"


@pytest.mark.django_db
def test_a_revoked_token_is_not_rotated():
    issued = a_token()
    revoke_token(token_id=issued.token_id, by=SOMEBODY, reason="left")

    with pytest.raises(TokenNotActive):
        rotate(issued)


@pytest.mark.django_db
def test_an_expired_token_is_not_rotated():
    issued = a_token(expires=HOUR)
    age(issued.token_id, by=HOUR)

    with pytest.raises(TokenNotActive):
        rotate(issued)


@pytest.mark.django_db
def test_a_revocation_ends_both_secrets_of_an_overlap():
    first = a_token()
    second = rotate(first, overlap=HOUR)

    revoke_token(token_id=first.token_id, by=SOMEBODY, reason="left")

    assert not is_accepted(first)
    assert not is_accepted(second)
    assert row_of(first).previous_digest is None


@pytest.mark.django_db
def test_a_rotated_token_stays_suspended():
    first = a_token()
    suspend_token(token_id=first.token_id, by=SOMEBODY, reason="odd traffic")

    assert not is_accepted(rotate(first))


@pytest.mark.django_db
def test_the_second_click_is_refused_and_told_the_count():
    first = a_token()
    second = rotate(first)

    with pytest.raises(TokenAlreadyRotated) as refusal:
        rotate(first, seen=0)

    assert refusal.value.details == {"rotation_count": 1}
    assert is_accepted(second)


@pytest.mark.django_db(transaction=True)
def test_clicks_at_the_same_moment_make_one_new_secret():
    first = a_token()

    outcomes = at_once(8, lambda: rotate(first, overlap=HOUR))

    made = [outcome for outcome in outcomes if isinstance(outcome, IssuedToken)]
    refused = [o for o in outcomes if isinstance(o, TokenAlreadyRotated)]
    assert (len(made), len(refused)) == (1, 7)
    assert is_accepted(made[0])
    assert is_accepted(first)
    assert row_of(first).rotation_count == 1
    assert acts_on(first) == ["token.issue", "token.rotate"]


@pytest.mark.django_db
def test_the_audit_tells_of_the_rotation_without_a_secret():
    first = a_token()

    rotate(first, overlap=HOUR)

    record = TokenAudit.objects.get(action="token.rotate")
    assert record.changes == {
        "rotation_count": 1,
        "reason": "routine",
        "overlap_seconds": 3600,
    }
