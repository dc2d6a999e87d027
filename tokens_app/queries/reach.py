"""What ranges reach at this moment, and what a range may name."""

from dataclasses import dataclass
from uuid import UUID

from tokens_app.domain.errors import TokenNotFound
from tokens_app.domain.range_catalogue import (
    Place,
    RangeMember,
    TokenRange,
    catalogue_of,
)
from tokens_app.domain.scope import Audience
from tokens_app.models import ServiceAccountToken
from tokens_app.models.grants import grantable


@dataclass(frozen=True, slots=True, kw_only=True)
class RangePreview:
    """What a token with the range would reach, if this user issued it now.

    `refused` is what does not exist or what the user may not grant.
    """

    reached: list[RangeMember]
    refused: TokenRange


def range_preview(
    *, audience: str, scopes: frozenset[str], wanted: TokenRange, user_id: int
) -> RangePreview:
    """The preview of a range that is being chosen."""
    granted = grantable(wanted, audience=audience, scopes=scopes, user_id=user_id)
    return RangePreview(
        reached=_members(granted, audience=audience), refused=wanted.without(granted)
    )


def range_choices(*, audience: str, namespace_id: UUID) -> list[RangeMember]:
    """Everything in a namespace that a range of this audience can name."""
    choices = catalogue_of(audience).choices
    return list(choices(namespace_id)) if choices else []


def token_reach(token_id: UUID) -> list[RangeMember]:
    """What the token reaches now; raises TokenNotFound."""
    token = _token(token_id)
    return _members(token.range, audience=token.audience)


def token_drift(token_id: UUID) -> list[RangeMember]:
    """What the token's groups have gained since a person looked at its range.

    Empty where that is unknown. Raises TokenNotFound.
    """
    token = _token(token_id)
    if token.members_at_grant is None:
        return []
    known = set(token.members_at_grant)
    reached = _members(token.range, audience=token.audience)
    return [it for it in reached if it.id.hex not in known]


def namespaces() -> list[Place]:
    """The namespaces that a token can belong to, by name."""
    found = catalogue_of(Audience.TASKS).namespaces
    return list(found()) if found else []


def applications() -> list[Place]:
    """The applications that a token can belong to, by name."""
    found = catalogue_of(Audience.TASKS).applications
    return list(found()) if found else []


def _members(granted: TokenRange, *, audience: str) -> list[RangeMember]:
    members = catalogue_of(audience).members
    return list(members(granted)) if members else []


def _token(token_id: UUID) -> ServiceAccountToken:
    token = ServiceAccountToken.objects.live().filter(id=token_id).first()
    if token is None:
        raise TokenNotFound("There is no such token; look it up in the list.")
    return token
