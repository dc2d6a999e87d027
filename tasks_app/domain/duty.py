"""Who may settle a task: separation of duty, and the two people of a proposal."""

from datetime import datetime
from enum import StrEnum
from typing import NamedTuple
from uuid import UUID

from tasks_app.domain.access import Actor
from tasks_app.domain.errors import ReviewNotAllowed


class ReviewDuty(NamedTuple):
    """What a queue asks of its reviewers."""

    reviewer_may_be_submitter: bool
    second_approver: bool
    approval_seconds: int

    def check_reviewer(self, actor: Actor, *, submitted_by: UUID) -> None:
        """Raise ReviewNotAllowed for who submitted the task, where the queue says so.

        A token keeps its id when it is rotated, so its new secret is the same person.
        """
        if not self.reviewer_may_be_submitter and actor.id == submitted_by:
            raise ReviewNotAllowed(
                "SUBMITTER",
                "You submitted this task, and its queue wants somebody else to review "
                "it. Ask a reviewer who did not submit it.",
            )


class ProposalState(StrEnum):
    """How a proposed review stands.

    OPEN: somebody else may approve it. APPROVED: it was carried out. WITHDRAWN: taken
    back. EXPIRED: nobody approved it in time. SUPERSEDED: the task moved on.
    """

    OPEN = "OPEN"
    APPROVED = "APPROVED"
    WITHDRAWN = "WITHDRAWN"
    EXPIRED = "EXPIRED"
    SUPERSEDED = "SUPERSEDED"


def proposal_state(
    *,
    decision: str | None,
    is_of_this_revision: bool,
    expires_at: datetime,
    now: datetime,
) -> ProposalState:
    """How a proposal stands at `now`, a time of the database."""
    if decision is not None:
        return ProposalState(decision)
    if not is_of_this_revision:
        return ProposalState.SUPERSEDED
    return ProposalState.OPEN if now < expires_at else ProposalState.EXPIRED


def check_approver(actor: Actor, *, proposer_id: UUID) -> None:
    """Raise ReviewNotAllowed for who approves an own proposal."""
    if actor.id == proposer_id:
        raise ReviewNotAllowed(
            "PROPOSER",
            "You proposed this review: another person must approve it. Ask another "
            "reviewer, or withdraw it.",
        )
