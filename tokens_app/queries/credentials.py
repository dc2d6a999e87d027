"""Questions about tokens at the door; the first is asked at every request."""

import functools
import json
from collections.abc import Collection
from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID

from django.db import connection
from django.db.models.functions import Now

from tokens_app.domain.range_catalogue import catalogue_of
from tokens_app.models import ServiceAccountToken

# One row by the unique index of live key ids; the database's clock decides.
_CREDENTIAL = """
    SELECT t.id, t.pepper_id, t.digest, t.previous_pepper_id,
           CASE WHEN t.previous_valid_until > statement_timestamp()
                THEN t.previous_digest END,
           t.status,
           t.expires_at <= statement_timestamp(),
           {application_is_enabled},
           t.last_used_at IS NULL
           OR t.last_used_at < statement_timestamp() - interval '60 seconds',
           t.name, t.namespace_id, t.application_id, t.scopes,
           t.queue_ids::text, t.job_ids::text, t.job_groups::text, t.expires_at,
           t.reads_per_minute, t.triggers_per_minute
      FROM tokens_app_serviceaccounttoken t
     WHERE t.key_id = %s AND t.audience = %s AND t.deleted_at IS NULL
"""


class Credential(NamedTuple):
    """A token's row as authentication needs it, judged by the database's clock."""

    token_id: UUID
    pepper_id: str
    digest: bytes
    previous_pepper_id: str | None
    previous_digest: bytes | None
    status: str
    is_expired: bool
    application_is_enabled: bool
    use_is_unrecorded: bool
    name: str
    namespace_id: UUID
    application_id: UUID | None
    scopes: str
    queue_ids_json: str
    job_ids_json: str
    job_groups_json: str
    expires_at: datetime
    reads_per_minute: int | None
    triggers_per_minute: int | None

    @property
    def queue_ids(self) -> tuple[UUID, ...]:
        """The queues in its range."""
        return _read_ids(self.queue_ids_json)

    @property
    def job_ids(self) -> tuple[UUID, ...]:
        """The jobs in its range."""
        return _read_ids(self.job_ids_json)

    @property
    def job_groups(self) -> tuple[str, ...]:
        """The names of the job groups in its range."""
        return tuple(json.loads(self.job_groups_json))


def find_credential(*, key_id: str, audience: str) -> Credential | None:
    """The live token with this key id, if it is for this audience; one statement."""
    sql = _credential_sql(catalogue_of(audience).application_enabled_sql)
    with connection.cursor() as cursor:
        cursor.execute(sql, [key_id, audience])
        row = cursor.fetchone()
    return Credential._make(row) if row else None


def find_token(*, key_id: str) -> ServiceAccountToken | None:
    """The live token with this key id."""
    return ServiceAccountToken.objects.live().filter(key_id=key_id).first()


def token_names(token_ids: Collection[UUID]) -> dict[UUID, str]:
    """The names of these tokens, of deleted ones too."""
    found = ServiceAccountToken.objects.filter(id__in=token_ids)
    return dict(found.values_list("id", "name"))


def tokens_by_age() -> list[ServiceAccountToken]:
    """Every live token, newest first."""
    return list(ServiceAccountToken.objects.live().order_by("-created_at", "-id"))


class ExpiringToken(NamedTuple):
    """A token that ends soon."""

    key_id: str
    expires_at: datetime


def tokens_expiring(*, within: timedelta) -> list[ExpiringToken]:
    """The active tokens that end within that time, soonest first."""
    rows = (
        ServiceAccountToken.objects.live()
        .filter(status="ACTIVE", expires_at__gt=Now(), expires_at__lte=Now() + within)
        .order_by("expires_at", "id")
        .values_list("key_id", "expires_at")
    )
    return [ExpiringToken._make(row) for row in rows]


@functools.cache
def _credential_sql(application_enabled: str | None) -> str:
    enabled = (
        f"t.application_id IS NULL OR COALESCE(({application_enabled}), FALSE)"
        if application_enabled
        else "TRUE"
    )
    return _CREDENTIAL.format(application_is_enabled=enabled)


def _read_ids(text: str) -> tuple[UUID, ...]:
    return tuple(UUID(value) for value in json.loads(text))
