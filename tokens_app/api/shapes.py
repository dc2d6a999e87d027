"""What the management API reads."""

from datetime import datetime, timedelta
from typing import Annotated, Literal, TypeVar
from uuid import UUID

from msgspec import UNSET, Meta, Struct, UnsetType

from orbit.errors import Invalid
from tokens_app.domain.grant import TokenGrant
from tokens_app.domain.range_catalogue import TokenRange
from tokens_app.domain.rotation import Rotation, RotationReason
from tokens_app.domain.token_edit import LIMITS, TokenEdit

T = TypeVar("T")

Days = Annotated[int, Meta(ge=1, le=36_500)]
AudienceName = Literal["OPEN_JOBS", "TASKS"]


class Body(Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """The root of all request shapes."""


class RangeIn(Body, frozen=True, kw_only=True):
    """The members by which a body names a range."""

    queue_ids: list[UUID] | None = None
    job_ids: list[UUID] | None = None
    job_groups: list[str] | None = None


class ExpiringIn(RangeIn, frozen=True, kw_only=True):
    """A range and its end: a moment (RFC 3339), or whole days from now."""

    expires: datetime | None = None
    expires_in_days: Days | None = None


class IssueIn(ExpiringIn, frozen=True, kw_only=True):
    """A token to issue (POST /workbench/api/tokens)."""

    name: str
    audience: AudienceName
    namespace_id: UUID
    application_id: UUID | None = None
    scopes: list[str]
    description: str = ""
    owner_contact: str = ""
    reads_per_minute: int | None = None
    triggers_per_minute: int | None = None
    form_key: UUID | None = None
    password: str | None = None


class EditIn(ExpiringIn, frozen=True, kw_only=True):
    """What to change; what is left out stays. A limit of null is the default again."""

    name: str | None = None
    description: str | None = None
    owner_contact: str | None = None
    reads_per_minute: int | UnsetType | None = UNSET
    triggers_per_minute: int | UnsetType | None = UNSET
    seen_updated_at: datetime | None = None
    reason: str = ""


class RotateIn(Body, frozen=True, kw_only=True):
    """A rotation; `expected_rotation_count` is the count that the caller saw."""

    expected_rotation_count: int
    reason: RotationReason
    overlap_seconds: Annotated[int, Meta(ge=0, le=31_536_000)] = 0
    note: str = ""
    password: str | None = None


class ReasonIn(Body, frozen=True, kw_only=True):
    """Why it is done."""

    reason: str


class PreviewIn(RangeIn, frozen=True, kw_only=True):
    """A range that is being chosen."""

    audience: AudienceName
    namespace_id: UUID
    scopes: list[str] = []


def grant_of(body: IssueIn) -> TokenGrant:
    """The grant that a body asks for; raises Invalid."""
    wanted = range_of(body, namespace_id=body.namespace_id)
    expires = _expiry_of(body)
    if expires is None:
        raise Invalid(
            "Say when it expires: a moment or a number of days.", field="expires"
        )
    return TokenGrant(
        name=body.name,
        audience=body.audience,
        namespace_id=body.namespace_id,
        application_id=body.application_id,
        scopes=body.scopes,
        expires=expires,
        queue_ids=wanted.queue_ids,
        job_ids=wanted.job_ids,
        job_groups=wanted.job_groups,
        description=body.description,
        owner_contact=body.owner_contact,
        reads_per_minute=body.reads_per_minute,
        triggers_per_minute=body.triggers_per_minute,
        form_key=body.form_key,
    )


def edit_of(body: EditIn) -> TokenEdit:
    """The change that a body asks for; raises Invalid."""
    limits = {name: getattr(body, name) for name in LIMITS}
    return TokenEdit(
        name=body.name,
        description=body.description,
        owner_contact=body.owner_contact,
        expires=_expiry_of(body),
        queue_ids=_tuple(body.queue_ids),
        job_ids=_tuple(body.job_ids),
        job_groups=_tuple(body.job_groups),
        **{
            name: None if limit is UNSET else limit or 0
            for name, limit in limits.items()
        },
        seen_updated_at=body.seen_updated_at,
        reason=body.reason,
    )


def rotation_of(body: RotateIn) -> Rotation:
    """The rotation that a body asks for."""
    return Rotation(
        expected_rotation_count=body.expected_rotation_count,
        reason=body.reason,
        overlap=timedelta(seconds=body.overlap_seconds),
        note=body.note,
    )


def range_of(body: RangeIn, *, namespace_id: UUID) -> TokenRange:
    """The range that a body names."""
    return TokenRange(
        namespace_id=namespace_id,
        queue_ids=tuple(body.queue_ids or ()),
        job_ids=tuple(body.job_ids or ()),
        job_groups=tuple(body.job_groups or ()),
    )


def _expiry_of(body: ExpiringIn) -> datetime | timedelta | None:
    if body.expires is not None and body.expires_in_days is not None:
        raise Invalid("Give `expires` or `expires_in_days`, not both.", field="expires")
    if body.expires_in_days is not None:
        return timedelta(days=body.expires_in_days)
    return body.expires


def _tuple(values: list[T] | None) -> tuple[T, ...] | None:
    return None if values is None else tuple(values)
