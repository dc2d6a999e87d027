"""What a review and an approved proposal have in common, under the task's lock."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from orbit.exact_json import digest
from tasks_app.domain import lifecycle
from tasks_app.domain.access import Actor
from tasks_app.domain.commands import MAX_RESULT_BYTES, ReviewTask
from tasks_app.domain.declarations import (
    check_declared,
    check_evidence_ref,
    check_reason,
    check_size,
)
from tasks_app.domain.duty import ProposalState, proposal_state
from tasks_app.domain.errors import InvalidField, ProposalNotFound
from tasks_app.domain.idempotency import Identity
from tasks_app.domain.lifecycle import State
from tasks_app.domain.ownership import policy_for
from tasks_app.models.locking import (
    LockedTask,
    check_idle,
    check_revision,
    conflict,
)
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

    outcome: str
    result: str
    reason: str
    evidence_ref: str
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


def check_review(command: ReviewTask) -> None:
    """Refuse what no reviewer may say, whatever the task is; raises Invalid."""
    check_reason(command.reason)
    check_evidence_ref(command.evidence_ref)
    check_declared(
        "execution_settled",
        is_declared=command.execution_settled,
        meaning="every execution of the past has ended and has no further effect",
    )
    result = bytes(command.result)
    if result.strip() == b"null":
        raise InvalidField("result", "State the conclusion; null is not a result.")
    check_size("result", result, limit=MAX_RESULT_BYTES)


def check_reviewable(locked: LockedTask, expected_revision: str) -> None:
    """Refuse unless the task may be settled by a person now; raises StateConflict."""
    task = locked.task
    if task.state != State.NEEDS_REVIEW:
        raise conflict(
            locked,
            "STATE",
            f"Only a task in NEEDS_REVIEW can be reviewed; this one is {task.state}.",
        )
    check_revision(locked, expected_revision)
    if task.is_gated:
        raise conflict(
            locked, "GATE", "The task waits behind a gate: its owner must open it."
        )
    refusal = policy_for(task.owner).refuse_review(
        task_id=task.id, owner_id=task.owner_id
    )
    if refusal is not None:
        raise conflict(locked, "OWNER", refusal)
    check_idle(locked)


def settle(
    locked: LockedTask,
    conclusion: Conclusion,
    *,
    action: str,
    identity: Identity,
    is_patient: bool,
) -> Answered:
    """Write the conclusion; the owner of the task goes on in the same transaction."""
    after: dict[str, object] = {
        "effect_uncertain": False,
        "execution_settled": True,
        "result_digest": digest(conclusion.result),
    }
    if conclusion.approver is not None:
        after |= {
            "proposal_id": conclusion.proposal_id,
            "proposed_by": conclusion.actor.id,
            "approved_by": conclusion.approver.id,
        }
    transition = Transition(
        task=locked.task,
        move=lifecycle.settle(
            locked.task.standing,
            outcome=State(conclusion.outcome),
            result=conclusion.result,
        ),
        action=action,
        reason=conclusion.reason,
        evidence_ref=conclusion.evidence_ref,
        after=after,
        receipt=ReceiptRow(
            operation=action,
            key_digest=identity.key_digest.hex(),
            content_digest=identity.content_digest.hex(),
        ),
        approver=conclusion.approver,
    )
    moved = write_transitions(
        [transition], actor=conclusion.actor, now=locked.now, is_patient=is_patient
    )
    tell_owners(moved)
    return Answered(task=moved[0], audit_id=transition.audit_id, deduplicated=False)
