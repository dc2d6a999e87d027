"""Review, retry, and the operations that led here (spec, sections 2 to 4)."""

from uuid import UUID

from rest_framework.request import Request
from rest_framework.response import Response

from orbit.http.envelope import answer
from orbit.http.paging import Cursor, page, read_limit
from tasks_app import queries
from tasks_app.actions.retry_task import retry_task
from tasks_app.actions.review_task import review_task
from tasks_app.actions.start_probe import start_probe
from tasks_app.api.shapes import answered_shape, operation_shape, operation_summary
from tasks_app.api.views import TaskAPIView
from tasks_app.domain.commands import RetryTask, ReviewTask, StartProbe


class TaskReview(TaskAPIView):
    """POST /v1/tasks/{task_id}:review."""

    scope = "tasks:review"

    def post(self, request: Request, task_id: UUID) -> Response:
        """Settle an uncertain task; 200 the first time and on replay."""
        answered = review_task(
            self.body(ReviewTask),
            task_id=task_id,
            identity=self.identity(),
            actor=self.actor,
            reach=self.reach,
        )
        return answer(request, answered_shape(answered))


class TaskRetry(TaskAPIView):
    """POST /v1/tasks/{task_id}:retry."""

    scope = "tasks:retry"

    def post(self, request: Request, task_id: UUID) -> Response:
        """Create the linked successor; 201 the first time, 200 on replay."""
        answered = retry_task(
            self.body(RetryTask),
            task_id=task_id,
            identity=self.identity(),
            actor=self.actor,
            reach=self.reach,
        )
        return answer(
            request,
            answered_shape(answered, source_id=task_id),
            status=200 if answered.deduplicated else 201,
        )


class TaskProbe(TaskAPIView):
    """POST /v1/tasks/{task_id}:probe."""

    scope = "tasks:review"

    def post(self, request: Request, task_id: UUID) -> Response:
        """Have it looked up whether the task took effect; 201, 200 on replay."""
        self.body(StartProbe)
        answered = start_probe(
            task_id=task_id,
            identity=self.identity(),
            actor=self.actor,
            reach=self.reach,
        )
        return answer(
            request,
            answered_shape(answered, source_id=task_id),
            status=200 if answered.deduplicated else 201,
        )


class TaskOperations(TaskAPIView):
    """GET /v1/tasks/{task_id}/operations."""

    scope = "tasks:audit:read"
    query_parameters = ("limit", "cursor")

    def get(self, request: Request, task_id: UUID) -> Response:
        """What was done to the task, newest first."""
        limit = read_limit(self.query)
        cursor = Cursor(self.reach.namespace_id, task_id, "task.operations")
        found = queries.operations_of(
            self.reach, task_id, after=self.position(cursor), limit=limit
        )
        return answer(
            request,
            page(
                found,
                limit,
                lambda row: cursor.sign((row.created_at, row.id)),
                item=operation_summary,
            ),
        )


class TaskOperation(TaskAPIView):
    """GET /v1/tasks/{task_id}/operations/{audit_id}."""

    scope = "tasks:audit:read"

    def get(self, request: Request, task_id: UUID, audit_id: UUID) -> Response:
        """One operation with reason, before and after."""
        operation = queries.operation_of(self.reach, task_id, audit_id)
        return answer(request, operation_shape(operation))
