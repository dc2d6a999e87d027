"""The feed of result events: in commit order, never past what may still commit."""

from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from django.db import connection


class Position(NamedTuple):
    """Where the feed goes on; (0, 0) is its beginning."""

    transaction_id: int
    id: int


# Only what lies below the oldest running transaction is final: ids are handed out
# before the commit, so a smaller one may still appear above it.
FEED = """
SELECT e.transaction_id, e.id, e.payload, e.created_at
FROM outbox_result_event e
WHERE e.namespace_id = %(namespace)s
  AND (e.transaction_id, e.id) > (%(transaction)s, %(id)s)
  AND e.transaction_id < pg_snapshot_xmin(pg_current_snapshot())::text::bigint
  AND (%(queues)s::uuid[] IS NULL OR e.queue_id = ANY(%(queues)s))
ORDER BY e.transaction_id, e.id
LIMIT %(limit)s
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedEvent:
    """One event; `payload` is the frozen JSON text, `position` where to go on."""

    position: Position
    payload: str
    created_at: datetime

    @property
    def id(self) -> str:
        """The event's identifier, by which a consumer knows it again."""
        return str(self.position.id)


def events_after(
    *,
    namespace_id: UUID,
    queue_ids: tuple[UUID, ...] | None,
    position: Position,
    limit: int,
) -> list[FeedEvent]:
    """Up to `limit` events after `position`, which (0, 0) starts at the beginning.

    An event that is missing now and appears later always appears after what was given
    out before it.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            FEED,
            {
                "namespace": namespace_id,
                "queues": None if queue_ids is None else list(queue_ids),
                "transaction": position.transaction_id,
                "id": position.id,
                "limit": limit,
            },
        )
        found = cursor.fetchall()
    return [
        FeedEvent(
            position=Position(transaction_id, event_id),
            payload=payload,
            created_at=created_at,
        )
        for transaction_id, event_id, payload, created_at in found
    ]
