"""Batch review: one decision for many tasks, of which each gets its own review."""

from enum import StrEnum
from typing import Annotated
from uuid import UUID

import msgspec
from msgspec import Meta, Raw

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

MAX_ITEMS = 10_000
MAX_CANARY = 100


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


class ChosenTask(Command, frozen=True, kw_only=True):
    """One task by hand, with evidence of its own or that of the batch."""

    task_id: Hex32
    evidence_ref: EvidenceRef | None = None


class ReviewBatchDraft(Command, frozen=True, kw_only=True):
    """The decision, and the tasks of one queue that it is for.

    `tasks` by hand, or all in NEEDS_REVIEW of a common cause: `handler`, `cause`, both
    or neither. `canary` items are reviewed first; then a person lets it go on.
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

    def review(self, *, revision: int, evidence_ref: str | None) -> ReviewTask:
        """The review that one of the tasks gets."""
        return review_of(
            revision=revision,
            outcome=self.outcome,
            result=bytes(self.result).decode(),
            reason=self.reason,
            evidence_ref=evidence_ref or self.evidence_ref,
        )


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


def item_key(*, batch_id: UUID, task_id: UUID) -> str:
    """The key of an item's review: a runner that starts again repeats it harmlessly."""
    return f"review-batch:{batch_id.hex}:{task_id.hex}"


class BatchNotFound(NotFound):
    """No such batch, or it is another namespace's."""

    def __init__(self) -> None:
        super().__init__("There is no such batch of reviews.")


class BatchCannot(Conflict):
    """The batch is in a state that does not allow it."""

    code = "STATE_CONFLICT"

    def __init__(self, *, steer: Steer, state: BatchState) -> None:
        allowed = " or ".join(sorted(STEERED[steer]))
        super().__init__(
            f"A batch that is {state} cannot {steer}; it would have to be {allowed}.",
            details={"reason": "STATE", "state": state},
        )
