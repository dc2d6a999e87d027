"""The feed of result events."""

from rest_framework.request import Request
from rest_framework.response import Response

from orbit.http.envelope import answer
from orbit.http.paging import Cursor, read_limit
from orbit.outbox.feed import Position, events_after
from tasks_app.api.shapes import event_shape
from tasks_app.api.views import TaskAPIView

MAX_EVENTS = 500


class EventFeed(TaskAPIView):
    """GET /v1/events."""

    scope = "events:read"
    query_parameters = ("limit", "cursor")

    def get(self, request: Request) -> Response:
        """Events in commit order; `next_cursor` is always there to go on from."""
        limit = read_limit(self.query, default=100, maximum=MAX_EVENTS)
        cursor = Cursor(self.reach.namespace_id, "events", "events.feed")
        position = Position(0, 0)
        if "cursor" in self.query:
            position = cursor.read(self.query["cursor"], Position)
        found = events_after(
            namespace_id=self.reach.namespace_id,
            queue_ids=self.reach.queue_ids,
            position=position,
            limit=limit,
        )
        last = found[-1].position if found else position
        return answer(
            request,
            {
                "items": [event_shape(event) for event in found],
                "next_cursor": cursor.sign(last),
            },
        )
