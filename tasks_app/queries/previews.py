"""What a review or retry would do, foretold by its own rules; nothing is written."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple
from uuid import UUID

import msgspec

from tasks_app.domain.access import Actor, Reach
from tasks_app.domain.commands import RetryTask, ReviewTask
from tasks_app.domain.errors import ReviewNotAllowed, StateConflict
from tasks_app.domain.lifecycle import State
from tasks_app.domain.ownership import WaitingTurn, waiting_behind
from tasks_app.domain.recovery import check_retry, check_review
from tasks_app.models.acceptance import accepted_record
from tasks_app.models.locking import LockedTask, look_at_task
from tasks_app.models.record import TaskRecord
from tasks_app.models.recovery import (
    check_one_is_enough,
    check_retryable,
    check_reviewable,
    place_of_successor,
    retry_says,
    settled_by,
    successor_of,
)
from tasks_app.models.statements.look import ROOM
from tasks_app.models.statements.run import rows
from tasks_app.models.transition import EVENT_KINDS, picture

MAX_WAITING_SHOWN = 20


class Room(NamedTuple):
    """How many more tasks application and queue accept now."""

    application: int
    queue: int

    @property
    def would_fit(self) -> bool:
        """Whether one more task would be accepted now."""
        return min(self) >= 1


class Effect(NamedTuple):
    """One thing that would happen: a word for programs, a sentence for people."""

    kind: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Foretold:
    """What would happen: pictures as the audit would keep them, without their ids.

    `task` is how the task would stand; of a retry it is the new one, whose id is not
    known yet. `room` is as it is now, before anything is released or taken. `moves_on`
    are the executions of serial jobs that would start.
    """

    before: str
    after: str
    task: TaskRecord
    room: Room
    effects: Sequence[Effect]
    moves_on: Sequence[WaitingTurn] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """Either what would happen, or why it would be refused as the task stands."""

    task: TaskRecord
    foretold: Foretold | None = None
    refusal: StateConflict | ReviewNotAllowed | None = None


def preview_of_review(
    command: ReviewTask, *, task_id: UUID, actor: Actor, reach: Reach
) -> Preview:
    """What this review would do now, decided by the rules of the review itself.

    Raises Invalid and TaskNotFound as the review does. The task is looked at without
    a lock: somebody may be faster, then the review is refused.
    """
    check_review(command)
    return _preview(
        task_id=task_id,
        reach=reach,
        check=lambda seen: _check_review(seen, command, actor=actor),
        foretell=lambda seen: _reviewed(seen, command),
    )


def preview_of_retry(
    command: RetryTask, *, task_id: UUID, actor: Actor, reach: Reach
) -> Preview:
    """What this retry would do now, decided by the rules of the retry itself.

    Raises Invalid and TaskNotFound as the retry does. A full queue is no refusal here:
    `room.would_fit` tells it, for it may be otherwise a moment later.
    """
    check_retry(command)
    return _preview(
        task_id=task_id,
        reach=reach,
        check=lambda seen: check_retryable(seen, command),
        foretell=lambda seen: _retried(seen, command, actor=actor),
    )


def _check_review(seen: LockedTask, command: ReviewTask, *, actor: Actor) -> None:
    check_reviewable(seen, command)
    seen.duty.check_reviewer(actor, submitted_by=seen.task.submitted_by)
    check_one_is_enough(seen)


def _preview(
    *,
    task_id: UUID,
    reach: Reach,
    check: Callable[[LockedTask], None],
    foretell: Callable[[LockedTask], Foretold],
) -> Preview:
    seen = look_at_task(task_id=task_id, reach=reach)
    try:
        check(seen)
    except (StateConflict, ReviewNotAllowed) as refusal:
        return Preview(task=seen.task, refusal=refusal)
    return Preview(task=seen.task, foretold=foretell(seen))


def _reviewed(seen: LockedTask, command: ReviewTask) -> Foretold:
    task = seen.task
    move, after = settled_by(task, command)
    waiting = waiting_behind(
        task.owner, owner_id=task.owner_id, limit=MAX_WAITING_SHOWN
    )
    moves_on = [turn for turn in waiting if turn.goes_on]
    return Foretold(
        before=picture(task.state, task.revision),
        after=picture(move.to, task.revision + 1, **after),
        task=task._replace(
            state=move.to,
            revision=task.revision + 1,
            effect_uncertain=False,
            result=move.result,
            error_code=None,
            error_message=None,
            completed_at=seen.now,
            updated_at=seen.now,
        ),
        room=_room(task),
        effects=_effects_of_review(move.to, moves_on),
        moves_on=moves_on,
    )


def _retried(seen: LockedTask, command: RetryTask, *, actor: Actor) -> Foretold:
    source = seen.task
    child = accepted_record(
        successor_of(seen, command),
        place=place_of_successor(source),
        actor=actor,
        now=seen.now,
    )
    after = {"source_task_id": source.id, **retry_says(command)}
    return Foretold(
        before=picture(source.state, source.revision),
        after=msgspec.json.Encoder(uuid_format="hex").encode(after).decode(),
        task=child._replace(state=State.WAITING),
        room=_room(source),
        effects=_EFFECTS_OF_RETRY,
    )


_EFFECTS_OF_RETRY = (
    Effect("TASK_CREATED", "One new task, linked by retry_of; this one stays as is."),
    Effect("QUOTA_TAKEN", "One unit of the queue and of the application."),
    Effect("AUDIT_RECORDED", "task.retry on this task."),
    Effect("EVENT_PUBLISHED", "task.accepted of the new task."),
)


def _effects_of_review(to: State, moves_on: Sequence[WaitingTurn]) -> Sequence[Effect]:
    return (
        Effect("TASK_SETTLED", f"The task is {to} for good."),
        Effect("QUOTA_RELEASED", "One unit of the queue and of the application."),
        Effect("AUDIT_RECORDED", "task.review on this task."),
        Effect("EVENT_PUBLISHED", f"{EVENT_KINDS[to]} of this task."),
        *(
            Effect("JOB_MOVES_ON", f"The next execution of {turn.job_name} starts.")
            for turn in moves_on
        ),
    )


def _room(task: TaskRecord) -> Room:
    application, queue = rows(
        ROOM, {"application": task.application_id, "queue": task.queue_id}
    )[0]
    return Room(application=max(0, application or 0), queue=max(0, queue or 0))
