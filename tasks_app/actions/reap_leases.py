"""Take back leases that ran out: run again where that is safe, else ask a person."""

from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from tasks_app.domain import lifecycle
from tasks_app.domain.access import ENGINE
from tasks_app.domain.lifecycle import Failure
from tasks_app.models.record import TaskRecord, task_from
from tasks_app.models.settlement import tell_owners
from tasks_app.models.statements.quota import patiently
from tasks_app.models.statements.read import LOCK_LOST
from tasks_app.models.statements.run import rows
from tasks_app.models.transition import Transition, write_transitions


class _Lost(NamedTuple):
    task: TaskRecord
    attempt_id: UUID
    number: int
    lease_expires_at: datetime
    expires_by: datetime
    heartbeat_at: datetime | None


_ATTEMPT_COLUMNS = len(_Lost._fields) - 1


def reap_leases(*, limit: int) -> int:
    """End up to `limit` attempts whose lease ran out; answers how many.

    What a worker or another reaper holds at this moment is passed over.
    """
    return patiently(lambda is_patient: _reap(limit=limit, is_patient=is_patient))


def _reap(*, limit: int, is_patient: bool) -> int:
    found = rows(LOCK_LOST, {"limit": limit})
    if not found:
        return 0
    now = found[-1][-1]
    transitions = [
        _transition(
            _Lost(task_from(row, offset=_ATTEMPT_COLUMNS), *row[:_ATTEMPT_COLUMNS]),
            now=now,
        )
        for row in found
    ]
    moved = write_transitions(transitions, actor=ENGINE, now=now, is_patient=is_patient)
    tell_owners(moved)
    return len(moved)


def _transition(lost: _Lost, *, now: datetime) -> Transition:
    failure = _why(lost)
    return Transition(
        task=lost.task,
        move=lifecycle.lose(lost.task.standing, failure=failure, now=now),
        action="task.lose",
        attempt_id=lost.attempt_id,
        reason=failure.message,
        after={
            "attempt_id": lost.attempt_id,
            "attempt_number": lost.number,
            "outcome": "UNKNOWN",
            "lease_expired_at": lost.lease_expires_at,
            "last_heartbeat_at": lost.heartbeat_at,
        },
    )


def _why(lost: _Lost) -> Failure:
    if lost.lease_expires_at < lost.expires_by:
        return Failure(
            code="LEASE_LOST",
            message="The worker stopped renewing its lease and reported no outcome.",
        )
    if lost.expires_by == lost.task.deadline_at:
        return Failure(
            code="DEADLINE_EXCEEDED",
            message="The task's deadline passed while it ran; no outcome was reported.",
        )
    return Failure(
        code="ATTEMPT_TIMEOUT",
        message="The attempt ran past its timeout and reported no outcome.",
    )
