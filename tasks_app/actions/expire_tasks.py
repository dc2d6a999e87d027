"""End waiting tasks whose deadline has passed."""

from datetime import datetime

from tasks_app.domain import lifecycle
from tasks_app.domain.access import ENGINE
from tasks_app.domain.lifecycle import Failure
from tasks_app.models.record import TaskRecord, task_from
from tasks_app.models.settlement import tell_owners
from tasks_app.models.statements.quota import patiently
from tasks_app.models.statements.read import LOCK_OVERDUE
from tasks_app.models.statements.run import rows
from tasks_app.models.transition import Transition, write_transitions


def expire_tasks(*, limit: int) -> int:
    """End up to `limit` waiting tasks past their deadline; answers how many.

    Never started: FAILED, which is safe. Last outcome unknown: NEEDS_REVIEW.
    """
    return patiently(lambda is_patient: _expire(limit=limit, is_patient=is_patient))


def _expire(*, limit: int, is_patient: bool) -> int:
    found = rows(LOCK_OVERDUE, {"limit": limit})
    if not found:
        return 0
    now = found[-1][-1]
    transitions = [_transition(task_from(row), now=now) for row in found]
    moved = write_transitions(transitions, actor=ENGINE, now=now, is_patient=is_patient)
    tell_owners(moved)
    return len(moved)


def _transition(task: TaskRecord, *, now: datetime) -> Transition:
    failure = _why(task, now)
    return Transition(
        task=task,
        move=lifecycle.expire_waiting(task.standing, failure=failure),
        action="task.expire",
        reason=failure.message,
    )


def _why(task: TaskRecord, now: datetime) -> Failure:
    if task.deadline_at <= now:
        return Failure(
            code="DEADLINE_EXCEEDED",
            message="The task's deadline passed while it waited.",
        )
    return Failure(
        code="START_DEADLINE_EXCEEDED",
        message="The task had not started by its start deadline.",
    )
