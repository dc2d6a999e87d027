"""What a token is asked to be, and the rules that it must keep."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from tokens_app.domain.errors import TokenInvalid
from tokens_app.domain.range_catalogue import TokenRange
from tokens_app.domain.scope import Audience, require_audience, write_scopes

MAX_RANGE = 1000
_MAX_LENGTH = {"name": 120, "description": 2000, "owner_contact": 254}


@dataclass(frozen=True, slots=True, kw_only=True)
class Actor:
    """Who acts, as the audit names them, and the address they act from if known.

    `user_id` is the signed-in user, whose own rights bound what they grant; without
    one it is the operator of the system.
    """

    name: str
    address: str | None = None
    user_id: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenGrant:
    """A token to be issued.

    `expires` is a moment, or a time from now. An empty range reaches nothing:
    TASKS tokens range over queue ids, OPEN_JOBS tokens over job ids and group names
    together. The limits override the defaults of the open job API, calls a minute.
    `form_key` is made with the form: sent twice, it issues one token.
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
    form_key: UUID | None = None

    @property
    def range(self) -> TokenRange:
        """What it asks to reach."""
        return TokenRange(
            namespace_id=self.namespace_id,
            queue_ids=self.queue_ids,
            job_ids=self.job_ids,
            job_groups=self.job_groups,
        )


def check_grant(grant: TokenGrant) -> str:
    """The scope string to store; TokenInvalid, with the field, if a rule is broken."""
    audience = require_audience(grant.audience)
    scopes = write_scopes(grant.scopes, audience=audience)
    check_texts(
        name=grant.name,
        description=grant.description,
        owner_contact=grant.owner_contact,
    )
    check_range(grant.range, audience=audience)
    check_limits(
        reads_per_minute=grant.reads_per_minute,
        triggers_per_minute=grant.triggers_per_minute,
    )
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


def check_texts(**texts: str) -> None:
    """TokenInvalid unless name, description and owner_contact are fit to be shown."""
    if not texts.get("name", "-").strip():
        raise TokenInvalid("Name the caller this token is for.", field="name")
    for name, value in texts.items():
        _check_text(value, field=name, limit=_MAX_LENGTH[name])


def check_range(wanted: TokenRange, *, audience: str) -> None:
    """TokenInvalid unless the range is of the audience's kind and not too long."""
    foreign = (
        ("job_ids", "job_groups") if audience == Audience.TASKS else ("queue_ids",)
    )
    for name in foreign:
        if getattr(wanted, name):
            raise TokenInvalid(f"{audience} tokens have no {name}.", field=name)
    for name in ("queue_ids", "job_ids", "job_groups"):
        if len(getattr(wanted, name)) > MAX_RANGE:
            raise TokenInvalid(f"Name at most {MAX_RANGE}.", field=name)
    for group in wanted.job_groups:
        _check_text(group, field="job_groups", limit=200)


def require_range(wanted: TokenRange, *, audience: str) -> None:
    """TokenInvalid if the range is empty: a person who asks for it has forgotten it."""
    if wanted.is_empty:
        is_tasks = audience == Audience.TASKS
        raise TokenInvalid(
            "An empty range reaches nothing; choose at least one "
            + ("queue." if is_tasks else "job or group."),
            field="queue_ids" if is_tasks else "job_ids",
        )


def check_limits(**limits: int | None) -> None:
    """TokenInvalid unless each limit is absent or 1 to 100000 calls a minute."""
    for name, limit in limits.items():
        if limit is not None and not 1 <= limit <= 100_000:  # noqa: PLR2004 - the rule
            raise TokenInvalid("Allow 1 to 100000 calls a minute.", field=name)


def _check_text(value: str, *, field: str, limit: int) -> None:
    if len(value) > limit or "\0" in value:
        raise TokenInvalid(
            f"Use at most {limit} characters, none of them NUL.", field=field
        )
