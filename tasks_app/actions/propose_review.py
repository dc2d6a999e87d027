"""A person proposes how a task is settled; another person approves it."""

from datetime import timedelta
from uuid import UUID

from django.db import transaction
from msgspec import UNSET

from orbit.exact_json import digest
from orbit.ids import new_id
from tasks_app.domain.access import Actor, Reach
from tasks_app.domain.commands import ReviewTask
from tasks_app.domain.duty import ProposalState
from tasks_app.domain.idempotency import Identity
from tasks_app.domain.recovery import check_review
from tasks_app.models.chain import Audit, next_link
from tasks_app.models.locking import LockedTask, conflict, lock_task
from tasks_app.models.recovery import check_reviewable
from tasks_app.models.review import (
    ProposalRecord,
    Proposed,
    proposals_of_task,
    replay_proposal,
)
from tasks_app.models.statements.propose import PROPOSE
from tasks_app.models.statements.run import rows
from tasks_app.models.transition import picture

OPERATION = "task.propose"


def propose_review(
    command: ReviewTask,
    *,
    task_id: UUID,
    identity: Identity,
    actor: Actor,
    reach: Reach,
) -> Proposed:
    """Keep a review for another person to approve; the task does not change.

    It can be approved until its `expires_at`, while the task stays at its revision. The
    same key and content again answers the first receipt. Raises Invalid, TaskNotFound,
    IdempotencyConflict, StateConflict or ReviewNotAllowed; then nothing is written.
    """
    check_review(command)
    with transaction.atomic(durable=True):
        return _propose(
            command, task_id=task_id, identity=identity, actor=actor, reach=reach
        )


def _propose(
    command: ReviewTask,
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
    check_reviewable(locked, command)
    locked.duty.check_reviewer(actor, submitted_by=locked.task.submitted_by)
    _check_none_open(locked)
    proposal = _proposal(command, locked=locked, actor=actor)
    _write(proposal, locked=locked, identity=identity, actor=actor)
    return Proposed(proposal=proposal, audit_id=proposal.audit_id, deduplicated=False)


def _check_none_open(locked: LockedTask) -> None:
    for proposal in proposals_of_task(locked.task.id):
        if proposal.state is ProposalState.OPEN:
            raise conflict(
                locked,
                "PROPOSED",
                f"The review {proposal.id.hex} is proposed already: approve it, or "
                "withdraw it first.",
            )


def _proposal(
    command: ReviewTask, *, locked: LockedTask, actor: Actor
) -> ProposalRecord:
    task = locked.task
    return ProposalRecord(
        id=new_id(),
        namespace_id=task.namespace_id,
        queue_id=task.queue_id,
        task_id=task.id,
        revision=task.revision,
        outcome=command.outcome,
        result=bytes(command.result).decode(),
        reason=command.reason,
        evidence_ref=command.evidence_ref,
        dossier_digest=None
        if command.expected_dossier_digest is UNSET
        else command.expected_dossier_digest,
        proposer_id=actor.id,
        proposer_kind=actor.kind,
        audit_id=new_id(),
        created_at=locked.now,
        expires_at=locked.now + timedelta(seconds=locked.duty.approval_seconds),
        decision=None,
        decided_by=None,
        decided_by_kind=None,
        decided_at=None,
        is_of_this_revision=True,
        read_at=locked.now,
    )


def _write(
    proposal: ProposalRecord, *, locked: LockedTask, identity: Identity, actor: Actor
) -> None:
    task = locked.task
    audit = Audit(
        id=proposal.audit_id,
        action=OPERATION,
        revision=task.revision,
        reason=proposal.reason,
        evidence_ref=proposal.evidence_ref,
        before=picture(task.state, task.revision),
        after=picture(
            task.state,
            task.revision,
            proposal_id=proposal.id,
            outcome=proposal.outcome,
            result_digest=digest(proposal.result),
            expires_at=proposal.expires_at,
        ),
    )
    rows(
        PROPOSE,
        {
            "task": task.id,
            "revision": task.revision,
            "now": locked.now,
            "key_digest": identity.key_digest,
            "content_digest": identity.content_digest,
            "actor": actor.id,
            "actor_kind": actor.kind,
            "proposal": proposal.id,
            "outcome": proposal.outcome,
            "result": proposal.result,
            "dossier_digest": proposal.dossier_digest,
            "expires_at": proposal.expires_at,
            **next_link(audit, task=task, actor=actor, now=locked.now),
        },
    )
