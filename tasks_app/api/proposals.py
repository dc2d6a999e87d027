"""Reviews that take two people: proposed by one, approved by another."""

from uuid import UUID

from rest_framework.request import Request
from rest_framework.response import Response

from orbit.http.envelope import answer
from tasks_app import queries
from tasks_app.actions.approve_review import approve_review
from tasks_app.actions.propose_review import propose_review
from tasks_app.actions.withdraw_review import withdraw_review
from tasks_app.api.shapes import answered_shape, proposal_shape, proposed_shape
from tasks_app.api.views import TaskAPIView
from tasks_app.domain.commands import ApproveReview, ReviewTask, WithdrawReview


class TaskProposeReview(TaskAPIView):
    """POST /v1/tasks/{task_id}:propose-review."""

    scope = "tasks:review"

    def post(self, request: Request, task_id: UUID) -> Response:
        """Keep a review for somebody else to approve; 201, and 200 on replay."""
        proposed = propose_review(
            self.body(ReviewTask),
            task_id=task_id,
            identity=self.identity(),
            actor=self.actor,
            reach=self.reach,
        )
        return answer(
            request,
            proposed_shape(proposed),
            status=200 if proposed.deduplicated else 201,
        )


class TaskApproveReview(TaskAPIView):
    """POST /v1/tasks/{task_id}:approve-review."""

    scope = "tasks:review"

    def post(self, request: Request, task_id: UUID) -> Response:
        """Settle the task as was proposed; 200 the first time and on replay."""
        answered = approve_review(
            self.body(ApproveReview),
            task_id=task_id,
            identity=self.identity(),
            actor=self.actor,
            reach=self.reach,
        )
        return answer(request, answered_shape(answered))


class TaskWithdrawReview(TaskAPIView):
    """POST /v1/tasks/{task_id}:withdraw-review."""

    scope = "tasks:review"

    def post(self, request: Request, task_id: UUID) -> Response:
        """Take a proposal back; 200 the first time and on replay."""
        withdrawn = withdraw_review(
            self.body(WithdrawReview),
            task_id=task_id,
            identity=self.identity(),
            actor=self.actor,
            reach=self.reach,
        )
        return answer(request, proposed_shape(withdrawn))


class TaskProposals(TaskAPIView):
    """GET /v1/tasks/{task_id}/proposals."""

    scope = "tasks:review"

    def get(self, request: Request, task_id: UUID) -> Response:
        """What was proposed for the task, oldest first, and how each stands."""
        found = queries.proposals_of(self.reach, task_id)
        return answer(request, {"items": [proposal_shape(it) for it in found]})
