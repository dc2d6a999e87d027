"""Delete idempotency records whose 24 hours are over."""

from django.db import connection, transaction

# A record that a trigger takes over at this moment is locked, and left alone.
PURGE = """
DELETE FROM openapi_idempotency_record r USING (
    SELECT e.id FROM openapi_idempotency_record e
    WHERE e.expires_at <= clock_timestamp()
    ORDER BY e.expires_at LIMIT %s FOR UPDATE SKIP LOCKED
) expired
WHERE r.id = expired.id
"""


def purge_idempotency_records(*, limit: int) -> int:
    """How many were deleted, at most `limit`."""
    with transaction.atomic(durable=True), connection.cursor() as cursor:
        cursor.execute(PURGE, [limit])
        count: int = cursor.rowcount
    return count
