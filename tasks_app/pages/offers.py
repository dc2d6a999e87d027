"""Which acts a page may offer: none that the act itself would refuse."""

from dataclasses import dataclass
from uuid import UUID

import msgspec

from orbit.words import Word
from tasks_app.domain.access import Actor, Reach
from tasks_app.domain.commands import RetryTask, ReviewTask
from tasks_app.domain.errors import ReviewNotAllowed, StateConflict
from tasks_app.models.record import TaskRecord
from tasks_app.pages import words
from tasks_app.queries.previews import (
    Foretold,
    Preview,
    preview_of_retry,
    preview_of_review,
)

# What is declared does not matter to the rules of state, owner, lease and permit.
_ANYTHING = {"reason": "-", "evidence_ref": "-"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """An act that is possible now, with what it would do; or why not, and what next."""

    foretold: Foretold | None
    reason: str = ""
    why_not: str = ""
    next_step: Word = ""
    successor_id: UUID | None = None

    @property
    def wants_two(self) -> bool:
        """Whether it would be accepted as a proposal, for another person to approve."""
        return self.reason == "SECOND_APPROVER"

    def may_begin(self, *, proposal: object | None) -> bool:
        """Whether it, or a proposal of it, can be begun beside the open proposal."""
        return self.is_open or (self.wants_two and proposal is None)

    @property
    def is_open(self) -> bool:
        """Whether the act would be accepted now."""
        return self.foretold is not None


def offer_review(task: TaskRecord, *, actor: Actor, reach: Reach) -> Offer:
    """Whether this person can settle the task now."""
    command = ReviewTask(
        expected_revision=str(task.revision),
        execution_settled=True,
        outcome="SUCCEEDED",
        result=msgspec.Raw(b"{}"),
        **_ANYTHING,
    )
    return _offer(preview_of_review(command, task_id=task.id, actor=actor, reach=reach))


def offer_retry(task: TaskRecord, *, actor: Actor, reach: Reach) -> Offer:
    """Whether the task can be run again now."""
    command = RetryTask(
        expected_revision=str(task.revision),
        safe_to_retry=True,
        task_timeout_ms=task.attempt_timeout_ms,
        **_ANYTHING,
    )
    return _offer(preview_of_retry(command, task_id=task.id, actor=actor, reach=reach))


def refused(refusal: StateConflict | ReviewNotAllowed) -> Offer:
    """The act that was just refused, with what to do next."""
    reason = str(refusal.details.get("reason", ""))
    successor = refusal.details.get("successor_task_id")
    return Offer(
        foretold=None,
        reason=reason,
        why_not=words.refusal_in_words(refusal),
        next_step=words.NEXT_STEPS.get(reason, ""),
        successor_id=successor if isinstance(successor, UUID) else None,
    )


def _offer(preview: Preview) -> Offer:
    if preview.refusal is not None:
        return refused(preview.refusal)
    return Offer(foretold=preview.foretold)
