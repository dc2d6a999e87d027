"""What a user may grant, and what a grant reaches, asked of the catalogues."""

from tokens_app.domain.errors import RangeNotGrantable
from tokens_app.domain.grant import Actor
from tokens_app.domain.range_catalogue import TokenRange, catalogue_of

_FIELDS = ("queue_ids", "job_ids", "job_groups")


def grantable(
    wanted: TokenRange, *, audience: str, scopes: frozenset[str], user_id: int
) -> TokenRange:
    """The part of `wanted` that this user may hand on with these scopes."""
    may_grant = catalogue_of(audience).may_grant
    if may_grant is None:
        return TokenRange(namespace_id=wanted.namespace_id)
    return may_grant(user_id=user_id, scopes=scopes, wanted=wanted).within(wanted)


def cut_range(
    wanted: TokenRange, *, audience: str, scopes: frozenset[str], by: Actor
) -> TokenRange:
    """`wanted` cut to what the actor may grant.

    Raises RangeNotGrantable, with the field, when nothing of it is left.
    """
    if by.user_id is None or wanted.is_empty:
        return wanted
    granted = grantable(wanted, audience=audience, scopes=scopes, user_id=by.user_id)
    if granted.is_empty:
        raise RangeNotGrantable(
            "You may not grant any of this: it does not exist here, or you lack the"
            " right to use it yourself.",
            field=next(name for name in _FIELDS if getattr(wanted, name)),
        )
    return granted


def members_now(granted: TokenRange, *, audience: str) -> list[str]:
    """The hex ids of all that the range reaches at this moment, in order."""
    members = catalogue_of(audience).members
    return sorted({it.id.hex for it in members(granted)}) if members else []
