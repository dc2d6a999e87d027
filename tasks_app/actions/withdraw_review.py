"""A person takes a proposed review back."""

from uuid import UUID

from django.db import transaction

from orbit.ids import new_id
from tasks_app.domain.access import Actor, Reach
from tasks_app.domain.commands import WithdrawReview
from tasks_app.domain.duty import ProposalState
from tasks_app.domain.idempotency import Identity
from tasks_app.models.chain import Audit, next_link
from tasks_app.models.locking import LockedTask, lock_task
from tasks_app.models.review import (
    ProposalRecord,
    Proposed,
    open_proposal,
    replay_proposal,
)
from tasks_app.models.statements.propose import WITHDRAW
from tasks_app.models.statements.run import rows
from tasks_app.models.transition import picture

OPERATION = "task.withdraw"


def withdraw_review(
    command: WithdrawReview,
    *,
    task_id: UUID,
    identity: Identity,
    actor: Actor,
    reach: Reach,
) -> Proposed:
    """Let an open proposal be over; whoever may review may do it, and is recorded.

    The same key and content again answers the first receipt. Raises TaskNotFound,
    ProposalNotFound, IdempotencyConflict or StateConflict; then nothing is written.
    """
    with transaction.atomic(durable=True):
        return _withdraw(
            command, task_id=task_id, identity=identity, actor=actor, reach=reach
        )


def _withdraw(
    command: WithdrawReview,
    *,
    task_id: UUID,
    identity: Identity,
    actor: Actor,
    reach: Reach,
) -> Proposed:
    locked = lock_task(
        task_id=task_id, reach=reach, operation=OPERATION, identity=identity
    )
    if locked.receipt is not None:
        return replay_proposal(locked.receipt.audit_id)
    proposal = open_proposal(locked, UUID(command.proposal_id))
    audit_id = new_id()
    _write(proposal, audit_id, locked=locked, identity=identity, actor=actor)
    withdrawn = proposal._replace(
        decision=ProposalState.WITHDRAWN,
        decided_by=actor.id,
        decided_by_kind=actor.kind,
        decided_at=locked.now,
    )
    return Proposed(proposal=withdrawn, audit_id=audit_id, deduplicated=False)


def _write(
    proposal: ProposalRecord,
    audit_id: UUID,
    *,
    locked: LockedTask,
    identity: Identity,
    actor: Actor,
) -> None:
    task = locked.task
    audit = Audit(
        id=audit_id,
        action=OPERATION,
        revision=task.revision,
        before=picture(task.state, task.revision),
        after=picture(task.state, task.revision, proposal_id=proposal.id),
    )
    rows(
        WITHDRAW,
        {
            "task": task.id,
            "revision": task.revision,
            "now": locked.now,
            "key_digest": identity.key_digest,
            "content_digest": identity.content_digest,
            "actor": actor.id,
            "actor_kind": actor.kind,
            "proposal": proposal.id,
            **next_link(audit, task=task, actor=actor, now=locked.now),
        },
    )
