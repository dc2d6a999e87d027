"""What a person looks at before and after deciding: none of these calls writes."""

from uuid import UUID

from rest_framework.request import Request
from rest_framework.response import Response

from orbit.http.envelope import answer
from orbit.http.paging import Cursor, page, read_limit
from orbit.ids import parse_id
from tasks_app.api.dossier_shapes import (
    contradiction_shape,
    dossier_shape,
    finding_shape,
    lineage_shape,
    preview_shape,
)
from tasks_app.api.views import TaskAPIView
from tasks_app.domain.commands import RetryTask, ReviewTask
from tasks_app.domain.errors import InvalidField
from tasks_app.domain.receipts import LookUpReceipt
from tasks_app.queries.contradictions import contradictions_within
from tasks_app.queries.dossier import dossier_of
from tasks_app.queries.lineage import lineage_of
from tasks_app.queries.previews import preview_of_retry, preview_of_review
from tasks_app.queries.receipts import receipt_of


class ReviewPreview(TaskAPIView):
    """POST /v1/tasks/{task_id}:preview-review."""

    scope = "tasks:review"

    def post(self, request: Request, task_id: UUID) -> Response:
        """What this review would do, or why it would be refused."""
        preview = preview_of_review(
            self.body(ReviewTask), task_id=task_id, actor=self.actor, reach=self.reach
        )
        return answer(request, preview_shape(preview))


class RetryPreview(TaskAPIView):
    """POST /v1/tasks/{task_id}:preview-retry."""

    scope = "tasks:retry"

    def post(self, request: Request, task_id: UUID) -> Response:
        """What this retry would do, or why it would be refused."""
        preview = preview_of_retry(
            self.body(RetryTask), task_id=task_id, actor=self.actor, reach=self.reach
        )
        return answer(request, preview_shape(preview))


class TaskDossier(TaskAPIView):
    """GET /v1/tasks/{task_id}/dossier."""

    scope = "tasks:audit:read"

    def get(self, request: Request, task_id: UUID) -> Response:
        """Everything that is known; excerpts of contents for who may read tasks."""
        return answer(
            request,
            dossier_shape(
                dossier_of(self.reach, task_id),
                shows_content="tasks:read" in self.principal.scopes,
            ),
        )


class TaskLineage(TaskAPIView):
    """GET /v1/tasks/{task_id}/lineage."""

    scope = "tasks:read"

    def get(self, request: Request, task_id: UUID) -> Response:
        """The chain of retries, root to tip."""
        return answer(request, lineage_shape(lineage_of(self.reach, task_id)))


class ContradictionList(TaskAPIView):
    """GET /v1/contradictions."""

    scope = "tasks:audit:read"
    query_parameters = ("limit", "cursor", "task_id")

    def get(self, request: Request) -> Response:
        """Late reports that disagree with an outcome, newest first."""
        limit = read_limit(self.query)
        task_id = self._task_id()
        cursor = Cursor(self.reach.namespace_id, task_id, "contradictions.list")
        found = contradictions_within(
            self.reach, task_id=task_id, after=self.position(cursor), limit=limit
        )
        return answer(
            request,
            page(
                found,
                limit,
                lambda row: cursor.sign((row.created_at, row.id)),
                item=contradiction_shape,
            ),
        )

    def _task_id(self) -> UUID | None:
        if "task_id" not in self.query:
            return None
        task_id = parse_id(self.query["task_id"])
        if task_id is None:
            raise InvalidField("task_id", "An id is 32 lower-case hex digits.")
        return task_id


class ReceiptLookUp(TaskAPIView):
    """POST /v1/receipts:look-up; a POST so that the key stays in a header."""

    scope = "tasks:read"

    def post(self, request: Request) -> Response:
        """What became of a write of this caller's own."""
        finding = receipt_of(
            self.body(LookUpReceipt),
            key_digest=self.identity().key_digest,
            actor=self.actor,
            reach=self.reach,
        )
        return answer(request, finding_shape(finding))
