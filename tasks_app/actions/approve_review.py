"""A second person carries out a proposed review."""

from uuid import UUID

from tasks_app.domain.access import Actor, ActorKind, Reach
from tasks_app.domain.commands import ApproveReview
from tasks_app.domain.duty import check_approver
from tasks_app.domain.idempotency import Identity
from tasks_app.models.locking import check_revision, lock_task
from tasks_app.models.recovery import check_reviewable
from tasks_app.models.replay import Answered, replay
from tasks_app.models.review import (
    Conclusion,
    open_proposal,
    settle,
)
from tasks_app.models.statements.propose import DECIDE
from tasks_app.models.statements.quota import patiently
from tasks_app.models.statements.run import rows

OPERATION = "task.approve"


def approve_review(
    command: ApproveReview,
    *,
    task_id: UUID,
    identity: Identity,
    actor: Actor,
    reach: Reach,
) -> Answered:
    """Settle the task as was proposed; one operation names both people.

    The same key and content again answers the first receipt. Raises TaskNotFound,
    ProposalNotFound, IdempotencyConflict, StateConflict (not open any more, among
    others) or ReviewNotAllowed (own proposal); then nothing is written.
    """
    return patiently(
        lambda is_patient: _approve(
            command,
            task_id=task_id,
            identity=identity,
            actor=actor,
            reach=reach,
            is_patient=is_patient,
        )
    )


def _approve(
    command: ApproveReview,
    *,
    task_id: UUID,
    identity: Identity,
    actor: Actor,
    reach: Reach,
    is_patient: bool,
) -> Answered:
    locked = lock_task(
        task_id=task_id, reach=reach, operation=OPERATION, identity=identity
    )
    if locked.receipt is not None:
        return replay(locked.receipt)
    proposal = open_proposal(locked, UUID(command.proposal_id))
    check_revision(locked, command.expected_revision)
    check_reviewable(locked, proposal.command)
    check_approver(actor, proposer_id=proposal.proposer_id)
    proposer = Actor(id=proposal.proposer_id, kind=ActorKind(proposal.proposer_kind))
    for person in (proposer, actor):
        locked.duty.check_reviewer(person, submitted_by=locked.task.submitted_by)
    conclusion = Conclusion(
        command=proposal.command,
        actor=proposer,
        approver=actor,
        proposal_id=proposal.id,
    )
    answered = settle(
        locked, conclusion, action=OPERATION, identity=identity, is_patient=is_patient
    )
    rows(
        DECIDE,
        {
            "proposal": proposal.id,
            "actor": actor.id,
            "actor_kind": actor.kind,
            "audit_id": answered.audit_id,
            "now": locked.now,
        },
    )
    return answered
