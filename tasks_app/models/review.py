"""What a review and an approved proposal have in common, under the task's lock."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from msgspec import UNSET, Raw

from tasks_app.domain.access import Actor
from tasks_app.domain.commands import ReviewTask
from tasks_app.domain.duty import ProposalState, proposal_state
from tasks_app.domain.errors import ProposalNotFound
from tasks_app.domain.idempotency import Identity
from tasks_app.models.locking import LockedTask, conflict
from tasks_app.models.recovery import REVIEW, check_one_is_enough, settled_by
from tasks_app.models.replay import Answered
from tasks_app.models.settlement import tell_owners
from tasks_app.models.statements.propose import PROPOSAL_BY_AUDIT, PROPOSALS_OF_TASK
from tasks_app.models.statements.run import rows
from tasks_app.models.transition import ReceiptRow, Transition, write_transitions

_WHY_OVER = {
    ProposalState.APPROVED: "The proposal was approved and carried out: read the task.",
    ProposalState.WITHDRAWN: "The proposal was withdrawn: propose anew.",
    ProposalState.EXPIRED: "Nobody approved the proposal in time: propose anew.",
    ProposalState.SUPERSEDED: "The task has moved on since: read it and decide anew.",
}


class ProposalRecord(NamedTuple):
    """A proposed review as it was read; `result` is exact JSON text."""

    id: UUID
    namespace_id: UUID
    queue_id: UUID
    task_id: UUID
    revision: int
    outcome: str
    result: str
    reason: str
    evidence_ref: str
    dossier_digest: str | None
    proposer_id: UUID
    proposer_kind: str
    audit_id: UUID
    created_at: datetime
    expires_at: datetime
    decision: str | None
    decided_by: UUID | None
    decided_by_kind: str | None
    decided_at: datetime | None
    is_of_this_revision: bool
    read_at: datetime

    @property
    def command(self) -> ReviewTask:
        """The review that was proposed, as its proposer would send it now."""
        return ReviewTask(
            expected_revision=str(self.revision),
            reason=self.reason,
            evidence_ref=self.evidence_ref,
            execution_settled=True,
            outcome=self.outcome,  # type: ignore[arg-type]
            result=Raw(self.result.encode()),
            expected_dossier_digest=self.dossier_digest or UNSET,
        )

    @property
    def state(self) -> ProposalState:
        """How it stood when it was read."""
        return proposal_state(
            decision=self.decision,
            is_of_this_revision=self.is_of_this_revision,
            expires_at=self.expires_at,
            now=self.read_at,
        )


class Proposed(NamedTuple):
    """A proposal as an operation left it, with the audit record of that operation."""

    proposal: ProposalRecord
    audit_id: UUID
    deduplicated: bool


class Conclusion(NamedTuple):
    """What a reviewer decided, and who the second person is if there is one."""

    command: ReviewTask
    actor: Actor
    approver: Actor | None = None
    proposal_id: UUID | None = None


def proposals_from(found: Iterable[tuple[Any, ...]]) -> list[ProposalRecord]:
    """The records in these rows."""
    return [ProposalRecord._make(row) for row in found]


def proposals_of_task(task_id: UUID) -> list[ProposalRecord]:
    """Every proposal of the task, oldest first."""
    return proposals_from(rows(PROPOSALS_OF_TASK, {"task": task_id}))


def open_proposal(locked: LockedTask, proposal_id: UUID) -> ProposalRecord:
    """The proposal, open at the time of the lock.

    Raises ProposalNotFound, or StateConflict once it is over.
    """
    for proposal in proposals_of_task(locked.task.id):
        if proposal.id == proposal_id:
            break
    else:
        raise ProposalNotFound
    state = proposal._replace(read_at=locked.now).state
    if state is not ProposalState.OPEN:
        raise conflict(locked, f"PROPOSAL_{state}", _WHY_OVER[state])
    return proposal


def replay_proposal(audit_id: UUID) -> Proposed:
    """The proposal as the act that `audit_id` records left it."""
    [proposal] = proposals_from(rows(PROPOSAL_BY_AUDIT, {"audit": audit_id}))
    if proposal.audit_id == audit_id:
        proposal = proposal._replace(
            decision=None,
            decided_by=None,
            decided_by_kind=None,
            decided_at=None,
            is_of_this_revision=True,
            read_at=proposal.created_at,
        )
    return Proposed(proposal=proposal, audit_id=audit_id, deduplicated=True)


def conclude(
    locked: LockedTask,
    command: ReviewTask,
    *,
    actor: Actor,
    identity: Identity,
    is_patient: bool,
) -> Answered:
    """Settle a task that check_reviewable let pass, where one person is enough.

    Raises StateConflict or ReviewNotAllowed.
    """
    locked.duty.check_reviewer(actor, submitted_by=locked.task.submitted_by)
    check_one_is_enough(locked)
    return settle(
        locked,
        Conclusion(command=command, actor=actor),
        action=REVIEW,
        identity=identity,
        is_patient=is_patient,
    )


def settle(
    locked: LockedTask,
    conclusion: Conclusion,
    *,
    action: str,
    identity: Identity,
    is_patient: bool,
) -> Answered:
    """Write the conclusion; the owner of the task goes on in the same transaction."""
    command, approver = conclusion.command, conclusion.approver
    move, after = settled_by(locked.task, command)
    if approver is not None:
        after |= {
            "proposal_id": conclusion.proposal_id,
            "proposed_by": conclusion.actor.id,
            "approved_by": approver.id,
        }
    transition = Transition(
        task=locked.task,
        move=move,
        action=action,
        reason=command.reason,
        evidence_ref=command.evidence_ref,
        after=after,
        receipt=ReceiptRow(
            operation=action,
            key_digest=identity.key_digest.hex(),
            content_digest=identity.content_digest.hex(),
        ),
        approver=approver,
    )
    moved = write_transitions(
        [transition], actor=conclusion.actor, now=locked.now, is_patient=is_patient
    )
    tell_owners(moved)
    return Answered(task=moved[0], audit_id=transition.audit_id, deduplicated=False)
