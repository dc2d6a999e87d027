"""What the workbench shows of tokens; digests are never read."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import Q

from orbit import clock
from tokens_app.domain.errors import TokenNotFound
from tokens_app.domain.range_catalogue import TokenRange, catalogue_of
from tokens_app.domain.scope import AUDIENCES
from tokens_app.models import ServiceAccountToken
from tokens_app.models.service_account_token import TokenQuerySet

SECRETS = ("digest", "previous_digest", "pepper_id", "previous_pepper_id")
EXPIRING_WITHIN = timedelta(days=14)
UNUSED_FOR = timedelta(days=90)


class TokenFilter(StrEnum):
    """Which tokens a list shows."""

    ALL = "all"
    ACTIVE = "active"
    EXPIRING = "expiring"
    NEVER_USED = "never_used"
    UNUSED = "unused"
    SUSPENDED = "suspended"
    EXPIRED = "expired"
    REVOKED = "revoked"


class TokenPosition(NamedTuple):
    """Where a list of tokens, newest first, goes on."""

    created_at: datetime
    id: UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenSummary:
    """One token in a list; `status` may be EXPIRED."""

    id: UUID
    name: str
    audience: str
    display_prefix: str
    key_id: str
    status: str
    scopes: tuple[str, ...]
    queue_count: int
    job_count: int
    group_count: int
    owner_contact: str
    issued_at: datetime
    expires_at: datetime
    last_used_at: datetime | None
    created_at: datetime
    created_by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenDetail(TokenSummary):
    """One token in full, without anything that is secret."""

    description: str
    namespace_id: UUID
    application_id: UUID | None
    queue_ids: tuple[UUID, ...]
    job_ids: tuple[UUID, ...]
    job_groups: tuple[str, ...]
    reads_per_minute: int | None
    triggers_per_minute: int | None
    last_used_address: str | None
    rotation_count: int
    rotated_at: datetime | None
    previous_valid_until: datetime | None
    revoked_at: datetime | None
    revoked_by: str
    revoked_reason: str
    updated_at: datetime
    updated_by: str

    @property
    def range(self) -> TokenRange:
        """What it was granted."""
        return TokenRange(
            namespace_id=self.namespace_id,
            queue_ids=self.queue_ids,
            job_ids=self.job_ids,
            job_groups=self.job_groups,
        )


def tokens_page(
    *,
    wanted: TokenFilter = TokenFilter.ALL,
    search: str = "",
    after: TokenPosition | None = None,
    limit: int = 20,
) -> list[TokenSummary]:
    """Live tokens, newest first: `limit` of them, and one more if there is.

    `search` finds names and display prefixes, and the jobs and queues in a range.
    """
    now = clock.now()
    tokens = _filtered(wanted)
    if search.strip():
        tokens = tokens.filter(_found(search.strip()))
    if after is not None:
        tokens = tokens.filter(
            Q(created_at__lt=after.created_at)
            | Q(created_at=after.created_at, id__lt=after.id),
            created_at__lte=after.created_at,
        )
    rows = tokens.defer(*SECRETS).order_by("-created_at", "-id")[: limit + 1]
    return [TokenSummary(**_summary(row, now=now)) for row in rows]


def token_detail(token_id: UUID) -> TokenDetail:
    """One live token; raises TokenNotFound."""
    row = ServiceAccountToken.objects.live().defer(*SECRETS).filter(id=token_id).first()
    if row is None:
        raise TokenNotFound("There is no such token; look it up in the list.")
    now = clock.now()
    overlap = row.previous_valid_until
    return TokenDetail(
        **_summary(row, now=now),
        description=row.description,
        namespace_id=row.namespace_id,
        application_id=row.application_id,
        queue_ids=row.range.queue_ids,
        job_ids=row.range.job_ids,
        job_groups=row.range.job_groups,
        reads_per_minute=row.reads_per_minute,
        triggers_per_minute=row.triggers_per_minute,
        last_used_address=row.last_used_address,
        rotation_count=row.rotation_count,
        rotated_at=row.rotated_at,
        previous_valid_until=overlap if overlap and overlap > now else None,
        revoked_at=row.revoked_at,
        revoked_by=row.revoked_by,
        revoked_reason=row.revoked_reason,
        updated_at=row.updated_at,
        updated_by=row.updated_by,
    )


def _filtered(wanted: TokenFilter) -> TokenQuerySet:
    tokens = ServiceAccountToken.objects.live()
    return tokens.filter(_CONDITIONS[wanted]())


def _accepted() -> Q:
    return Q(status="ACTIVE", expires_at__gt=clock.now())


_CONDITIONS: dict[TokenFilter, Callable[[], Q]] = {
    TokenFilter.ALL: Q,
    TokenFilter.ACTIVE: _accepted,
    TokenFilter.EXPIRING: lambda: (
        _accepted() & Q(expires_at__lte=clock.now() + EXPIRING_WITHIN)
    ),
    TokenFilter.NEVER_USED: lambda: _accepted() & Q(last_used_at__isnull=True),
    TokenFilter.UNUSED: lambda: (
        _accepted() & Q(last_used_at__lte=clock.now() - UNUSED_FOR)
    ),
    TokenFilter.SUSPENDED: lambda: Q(status="SUSPENDED"),
    TokenFilter.EXPIRED: lambda: Q(status="ACTIVE", expires_at__lte=clock.now()),
    TokenFilter.REVOKED: lambda: Q(status="REVOKED"),
}


def _found(text: str) -> Q:
    found = Q(name__icontains=text) | Q(display_prefix__icontains=text)
    for audience in AUDIENCES:
        find = catalogue_of(audience).find
        members = find(text) if find else ()
        ids = [it.id.hex for it in members]
        if not ids:
            continue
        found |= Q(job_ids__has_any_keys=ids) | Q(queue_ids__has_any_keys=ids)
        groups = sorted({it.group for it in members if it.kind == "job"})
        if groups:
            found |= Q(job_groups__has_any_keys=groups)
    return found


def _summary(row: ServiceAccountToken, *, now: datetime) -> dict[str, Any]:
    return {
        "id": row.id,
        "name": row.name,
        "audience": row.audience,
        "display_prefix": row.display_prefix,
        "key_id": row.key_id,
        "status": row.status_at(now),
        "scopes": tuple(row.scopes.split()),
        "queue_count": len(row.queue_ids),
        "job_count": len(row.job_ids),
        "group_count": len(row.job_groups),
        "owner_contact": row.owner_contact,
        "issued_at": row.issued_at,
        "expires_at": row.expires_at,
        "last_used_at": row.last_used_at,
        "created_at": row.created_at,
        "created_by": row.created_by,
    }
