"""The probes of a task, and those that wait for their worker."""

from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from tasks_app.domain.access import Reach
from tasks_app.domain.errors import StateConflict
from tasks_app.domain.lifecycle import OwnerKind
from tasks_app.models.locking import look_at_task
from tasks_app.models.probing import check_probeable
from tasks_app.models.statements.probe import NAMESPACE_OF, PROBES_OF, UNCLAIMED_PROBES
from tasks_app.models.statements.run import rows


def unclaimed_probes(*, owner: OwnerKind, overdue_ms: int, limit: int) -> list[UUID]:
    """Probes of tasks of this owner that nobody claimed though they could."""
    found = rows(
        UNCLAIMED_PROBES, {"owner": owner, "overdue_ms": overdue_ms, "limit": limit}
    )
    return [row[0] for row in found]


def namespace_of(task_id: UUID) -> UUID | None:
    """The namespace of a task, for the worker of its owner; None without a task."""
    found = rows(NAMESPACE_OF, {"task": task_id})
    return found[0][0] if found else None


class ProbeGlance(NamedTuple):
    """A probe of a task, as its own task stands; its finding is evidence."""

    id: UUID
    state: str
    created_at: datetime
    completed_at: datetime | None
    error_code: str | None
    started_by: UUID


def probes_of(task_id: UUID, *, limit: int) -> list[ProbeGlance]:
    """The newest probes of a task."""
    found = rows(PROBES_OF, {"task": task_id, "limit": limit})
    return [ProbeGlance._make(row) for row in found]


def why_not_probed(task_id: UUID, *, reach: Reach) -> StateConflict | None:
    """What starting a probe would be refused with at this moment; None if with nothing.

    Raises TaskNotFound.
    """
    try:
        check_probeable(look_at_task(task_id=task_id, reach=reach))
    except StateConflict as refusal:
        return refusal
    return None
