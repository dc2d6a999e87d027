"""Find the executions whose message was lost, and remember which were sent again."""

from collections.abc import Sequence
from uuid import UUID

from django.db import connection, transaction

from tasks_app.public import unclaimed_executions

OVERDUE_MS = 2_000
WINDOW = 10_000

# Longer after each time: what waits for a busy worker is not lost.
DUE = """
SELECT e.id FROM openapi_job_execution e
JOIN unnest(%s::uuid[]) WITH ORDINALITY AS u(id, place) ON u.id = e.id
WHERE e.resent_at IS NULL OR e.resent_at < clock_timestamp()
      - make_interval(secs => least(60, 2 ^ least(e.resend_count, 6)))
ORDER BY u.place LIMIT %s
"""

RESENT = """
UPDATE openapi_job_execution SET
    resent_at = clock_timestamp(), resend_count = least(resend_count + 1, 32000)
WHERE id = ANY(%s)
"""


def find_unsent_executions(*, limit: int) -> list[UUID]:
    """Executions that could run, that nobody took, and that are to be sent again."""
    unclaimed = unclaimed_executions(overdue_ms=OVERDUE_MS, limit=WINDOW)
    if not unclaimed:
        return []
    with connection.cursor() as cursor:
        cursor.execute(DUE, [unclaimed, limit])
        return [row[0] for row in cursor.fetchall()]


def resend_executions(execution_ids: Sequence[UUID]) -> None:
    """Remember that these were sent again now."""
    with transaction.atomic(durable=True), connection.cursor() as cursor:
        cursor.execute(RESENT, [list(execution_ids)])
