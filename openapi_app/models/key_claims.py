"""The claims of keys on executions, decided by one unique index."""

from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from django.db import connection

from openapi_app.domain.idempotency import LIFETIME, TriggerIdentity
from orbit.ids import new_id
from orbit.transactions import require_transaction

# One row, whether or not the key is known; the database's clock says what is expired.
_SEEN = """
SELECT r.execution_id, r.content_digest, clock_timestamp()
FROM (VALUES (1)) AS one LEFT JOIN openapi_idempotency_record r
  ON r.token_id = %(token)s AND r.job_id = %(job)s AND r.key_digest = %(key)s
 AND r.deleted_at IS NULL AND r.expires_at > clock_timestamp()
"""

# An expired claim is taken over in place: of parallel callers the second waits for the
# first to commit, and then finds a claim that stands.
_CLAIM = """
INSERT INTO openapi_idempotency_record AS r (
    id, namespace_id, tenant_id, token_id, job_id, key_digest, content_digest,
    execution_id, created_at, expires_at)
VALUES (%(id)s, %(namespace)s, %(tenant)s, %(token)s, %(job)s, %(key)s, %(content)s,
        %(execution)s, %(now)s, %(expires)s)
ON CONFLICT (token_id, job_id, key_digest) WHERE deleted_at IS NULL
DO UPDATE SET content_digest = excluded.content_digest,
              execution_id = excluded.execution_id,
              created_at = excluded.created_at,
              expires_at = excluded.expires_at
        WHERE r.expires_at <= clock_timestamp()
RETURNING r.id
"""


class Claim(NamedTuple):
    """What a key stands for at `now`, the database's; nothing if both are None."""

    execution_id: UUID | None
    content_digest: bytes | None
    now: datetime


class KeyTaken(Exception):
    """Somebody else claimed the key meanwhile; roll back and look again."""


def find_claim(identity: TriggerIdentity) -> Claim:
    """What the key of this very caller and job stands for; one statement."""
    with connection.cursor() as cursor:
        cursor.execute(_SEEN, _named(identity))
        return Claim._make(cursor.fetchone())


def claim_key(
    identity: TriggerIdentity,
    *,
    namespace_id: UUID,
    tenant_id: int,
    execution_id: UUID,
    now: datetime,
) -> None:
    """Let the key stand for the execution for 24 hours; raises KeyTaken."""
    require_transaction()
    claim: dict[str, UUID | bytes | int | datetime] = {
        "id": new_id(),
        "namespace": namespace_id,
        "tenant": tenant_id,
        "content": identity.content_digest,
        "execution": execution_id,
        "now": now,
        "expires": now + LIFETIME,
    }
    with connection.cursor() as cursor:
        cursor.execute(_CLAIM, {**claim, **_named(identity)})
        if cursor.fetchone() is None:
            raise KeyTaken


def _named(identity: TriggerIdentity) -> dict[str, UUID | bytes]:
    return {
        "token": identity.token_id,
        "job": identity.job_id,
        "key": identity.key_digest,
    }
