"""What a token is asked to be, and the rules that it must keep."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from tokens_app.domain.errors import TokenInvalid
from tokens_app.domain.scope import Audience, require_audience, write_scopes

MAX_RANGE = 1000
_MAX_LENGTH = {"name": 120, "description": 2000, "owner_contact": 254}


@dataclass(frozen=True, slots=True, kw_only=True)
class Actor:
    """Who acts, as the audit names them, and the address they act from if known."""

    name: str
    address: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenGrant:
    """A token to be issued.

    `expires` is a moment, or a time from now. An empty range reaches nothing:
    TASKS tokens range over queue ids, OPEN_JOBS tokens over job ids and group names
    together. The limits override the defaults of the open job API, calls a minute.
    """

    name: str
    audience: str
    namespace_id: UUID
    scopes: Iterable[str]
    expires: datetime | timedelta
    application_id: UUID | None = None
    queue_ids: tuple[UUID, ...] = ()
    job_ids: tuple[UUID, ...] = ()
    job_groups: tuple[str, ...] = ()
    description: str = ""
    owner_contact: str = ""
    reads_per_minute: int | None = None
    triggers_per_minute: int | None = None


def check_grant(grant: TokenGrant) -> str:
    """The scope string to store; TokenInvalid, with the field, if a rule is broken."""
    audience = require_audience(grant.audience)
    scopes = write_scopes(grant.scopes, audience=audience)
    if not grant.name.strip():
        raise TokenInvalid("Name the caller this token is for.", field="name")
    for name, limit in _MAX_LENGTH.items():
        _check_text(getattr(grant, name), field=name, limit=limit)
    _check_range(grant, audience=audience)
    _check_limits(grant)
    return scopes


def check_reason(reason: str, *, field: str = "reason") -> None:
    """TokenInvalid unless it is 1 to 1024 characters, not blank and without NUL."""
    if not reason.strip():
        raise TokenInvalid("Say why, in at most 1024 characters.", field=field)
    _check_text(reason, field=field, limit=1024)


def settle_expiry(
    expires: datetime | timedelta, *, now: datetime, max_days: int
) -> datetime:
    """The moment of expiry, which must lie ahead and within `max_days`."""
    if isinstance(expires, datetime) and expires.tzinfo is None:
        raise TokenInvalid("Give the expiry a time zone.", field="expires")
    try:
        moment = expires if isinstance(expires, datetime) else now + expires
    except OverflowError:
        moment = datetime.max.replace(tzinfo=now.tzinfo)
    if moment <= now:
        raise TokenInvalid("The expiry must lie in the future.", field="expires")
    if moment > now + timedelta(days=max_days):
        raise TokenInvalid(
            f"A token may live {max_days} days at most; choose an earlier expiry.",
            field="expires",
        )
    return moment


def _check_text(value: str, *, field: str, limit: int) -> None:
    if len(value) > limit or "\0" in value:
        raise TokenInvalid(
            f"Use at most {limit} characters, none of them NUL.", field=field
        )


def _check_range(grant: TokenGrant, *, audience: Audience) -> None:
    foreign = (
        ("job_ids", "job_groups") if audience is Audience.TASKS else ("queue_ids",)
    )
    for name in foreign:
        if getattr(grant, name):
            raise TokenInvalid(f"{audience} tokens have no {name}.", field=name)
    for name in ("queue_ids", "job_ids", "job_groups"):
        if len(getattr(grant, name)) > MAX_RANGE:
            raise TokenInvalid(f"Name at most {MAX_RANGE}.", field=name)
    for group in grant.job_groups:
        _check_text(group, field="job_groups", limit=200)


def _check_limits(grant: TokenGrant) -> None:
    for name in ("reads_per_minute", "triggers_per_minute"):
        limit = getattr(grant, name)
        if limit is not None and not 1 <= limit <= 100_000:  # noqa: PLR2004 - the rule
            raise TokenInvalid("Allow 1 to 100000 calls a minute.", field=name)
