"""How recovery stands: what an operator's dashboard and alarms ask for."""

from datetime import timedelta

from rest_framework.request import Request
from rest_framework.response import Response

from orbit.http.envelope import answer
from orbit.http.paging import read_whole
from tasks_app import queries
from tasks_app.api.shapes import slo_shape
from tasks_app.api.views import TaskAPIView

DEFAULT_WINDOW_HOURS = 24
MAX_WINDOW_HOURS = 31 * 24


class RecoveryStanding(TaskAPIView):
    """GET /v1/recovery/slo."""

    scope = "tasks:audit:read"
    query_parameters = ("window_hours",)

    def get(self, request: Request) -> Response:
        """What waits for people in the token's queues, and how fast they settle it."""
        hours = read_whole(
            self.query,
            name="window_hours",
            default=DEFAULT_WINDOW_HOURS,
            low=1,
            high=MAX_WINDOW_HOURS,
        )
        standing = queries.recovery_slo(self.reach, window=timedelta(hours=hours))
        return answer(request, slo_shape(standing))
