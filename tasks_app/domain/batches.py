"""Batch review: one decision for many tasks, of which each gets its own review."""

from enum import StrEnum
from typing import Annotated
from uuid import UUID

import msgspec
from msgspec import Meta, Raw, Struct

from orbit.errors import Conflict, NotFound
from tasks_app.domain.causes import Cause
from tasks_app.domain.commands import (
    Command,
    EvidenceRef,
    HandlerName,
    Hex32,
    Reason,
    ReviewTask,
)
from tasks_app.domain.declarations import check_declared, check_evidence_ref
from tasks_app.domain.errors import InvalidField
from tasks_app.domain.recovery import check_review

MAX_ITEMS = 10_000
MAX_CANARY = 100
MAX_AGE_MS = 10 * 365 * 86_400_000


class BatchState(StrEnum):
    """Where a batch stands; HELD waits for a person after its first items."""

    CANARY = "CANARY"
    HELD = "HELD"
    RUNNING = "RUNNING"
    PAUSED = "PAUSED"
    DONE = "DONE"
    ABORTED = "ABORTED"


class ItemState(StrEnum):
    """What became of one task: each item is in exactly one of these."""

    PENDING = "PENDING"
    SETTLED = "SETTLED"
    TAKEN = "TAKEN"
    REFUSED = "REFUSED"
    ABORTED = "ABORTED"


class Steer(StrEnum):
    """What a person may do with a batch."""

    CONTINUE = "continue"
    PAUSE = "pause"
    RESUME = "resume"
    ABORT = "abort"


RUNS = frozenset({BatchState.CANARY, BatchState.RUNNING})
ENDED = frozenset({BatchState.DONE, BatchState.ABORTED})

STEERED: dict[Steer, dict[BatchState, BatchState]] = {
    Steer.CONTINUE: {BatchState.HELD: BatchState.RUNNING},
    Steer.PAUSE: {
        BatchState.CANARY: BatchState.PAUSED,
        BatchState.RUNNING: BatchState.PAUSED,
    },
    # Where it goes on is what it has done so far: the canary first, then the rest.
    Steer.RESUME: {BatchState.PAUSED: BatchState.RUNNING},
    Steer.ABORT: dict.fromkeys(
        (BatchState.CANARY, BatchState.HELD, BatchState.RUNNING, BatchState.PAUSED),
        BatchState.ABORTED,
    ),
}


ErrorCode = Annotated[str, Meta(min_length=1, max_length=100)]
AgeMs = Annotated[int, Meta(ge=0, le=MAX_AGE_MS)]


class ChosenTask(Command, frozen=True, kw_only=True):
    """One task by hand, with evidence of its own or that of the batch."""

    task_id: Hex32
    evidence_ref: EvidenceRef | None = None


class ReviewBatchDraft(Command, frozen=True, kw_only=True):
    """The decision, and the tasks of one queue that it is for.

    `tasks` by hand, or all in NEEDS_REVIEW that have in common what is given of
    `handler`, `cause`, `error_code` and how long they wait by now. `canary` items are
    reviewed first; then a person lets it go on.
    """

    queue_id: Hex32
    outcome: str
    result: Raw
    reason: Reason
    evidence_ref: EvidenceRef
    execution_settled: bool
    canary: Annotated[int, Meta(ge=0, le=MAX_CANARY)] = 3
    tasks: tuple[ChosenTask, ...] = ()
    handler: HandlerName | None = None
    cause: Cause | None = None
    error_code: ErrorCode | None = None
    min_age_ms: AgeMs | None = None
    max_age_ms: AgeMs | None = None

    def review(self, *, revision: int, evidence_ref: str | None) -> ReviewTask:
        """The review that one of the tasks gets."""
        return review_of(
            revision=revision,
            outcome=self.outcome,
            result=bytes(self.result).decode(),
            reason=self.reason,
            evidence_ref=evidence_ref or self.evidence_ref,
        )


class ChosenBy(Struct, frozen=True, kw_only=True):
    """How the tasks of a batch were chosen, as the batch keeps it."""

    by_hand: bool
    handler: str | None = None
    cause: Cause | None = None
    error_code: str | None = None
    min_age_ms: int | None = None
    max_age_ms: int | None = None


def review_of(
    *, revision: int, outcome: str, result: str, reason: str, evidence_ref: str
) -> ReviewTask:
    """The review of one item, declared as its batch declared it."""
    return msgspec.convert(
        {
            "expected_revision": str(revision),
            "outcome": outcome,
            "result": Raw(result.encode()),
            "reason": reason,
            "evidence_ref": evidence_ref,
            "execution_settled": True,
        },
        ReviewTask,
    )


def check_draft(draft: ReviewBatchDraft) -> None:
    """Refuse what no review would take, and what is no choice of tasks; raises Invalid.

    `field` names the member of the draft, of a task by hand as tasks.0.evidence_ref.
    """
    check_review(draft.review(revision=1, evidence_ref=None))
    check_declared(
        "execution_settled",
        is_declared=draft.execution_settled,
        meaning="every execution of them has ended and has no further effect",
    )
    if not 0 <= draft.canary <= MAX_CANARY:
        raise InvalidField("canary", f"Begin with 0 to {MAX_CANARY} of them.")
    oldest, youngest = draft.max_age_ms, draft.min_age_ms
    if oldest is not None and youngest is not None and oldest < youngest:
        raise InvalidField("max_age_ms", "No task is younger than that and older.")
    _check_by_hand(draft.tasks)


def _check_by_hand(tasks: tuple[ChosenTask, ...]) -> None:
    if len(tasks) > MAX_ITEMS:
        raise InvalidField("tasks", f"Choose no more than {MAX_ITEMS} tasks.")
    if len({it.task_id for it in tasks}) < len(tasks):
        raise InvalidField("tasks", "A task is named twice.")
    for number, task in enumerate(tasks):
        if task.evidence_ref is None:
            continue
        try:
            check_evidence_ref(task.evidence_ref)
        except InvalidField as fault:
            raise InvalidField(f"tasks.{number}.evidence_ref", fault.message) from None


def item_key(*, batch_id: UUID, task_id: UUID) -> str:
    """The key of an item's review: a runner that starts again repeats it harmlessly."""
    return f"review-batch:{batch_id.hex}:{task_id.hex}"


class BatchNotFound(NotFound):
    """No such batch, or it is another namespace's."""

    def __init__(self) -> None:
        super().__init__("There is no such batch of reviews.")


class BatchWantsTwo(Conflict):
    """The queue wants two people for each review: one decision cannot settle many."""

    code = "STATE_CONFLICT"

    def __init__(self) -> None:
        super().__init__(
            "This queue wants two people for each review: propose its tasks one by "
            "one.",
            details={"reason": "SECOND_APPROVER"},
        )


class BatchCannot(Conflict):
    """The batch is in a state that does not allow it."""

    code = "STATE_CONFLICT"

    def __init__(self, *, steer: Steer, state: BatchState) -> None:
        allowed = " or ".join(sorted(STEERED[steer]))
        super().__init__(
            f"A batch that is {state} cannot {steer}; it would have to be {allowed}.",
            details={"reason": "STATE", "state": state},
        )
