"""All that is known of a task, for a person who must decide about it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Generic, NamedTuple, TypeVar
from uuid import UUID

from django.db.models import Model, QuerySet

from tasks_app.domain.access import Reach
from tasks_app.domain.dossier import Grounds
from tasks_app.domain.errors import TaskNotFound
from tasks_app.domain.ownership import WaitingTurn, policy_for, waiting_behind
from tasks_app.models import Attempt, Contradiction, Evidence, OperationAudit, Permit
from tasks_app.models.grounds import grounds_from, task_with_grounds
from tasks_app.models.record import TaskRecord
from tasks_app.models.statements.look import EVENTS
from tasks_app.models.statements.run import rows
from tasks_app.queries.lineage import Lineage, lineage_of

# Each list shows its newest; a task has at most 100 attempts, and all are shown.
MAX_SHOWN = 50
MAX_ATTEMPTS = 100

Row = TypeVar("Row", bound=Model)
Item = TypeVar("Item")


class ToldEvent(NamedTuple):
    """A result event; `payload` is its frozen JSON text."""

    id: int
    created_at: datetime
    payload: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown(Generic[Item]):
    """The newest items in the order in which they came, and whether there are more."""

    items: Sequence[Item]
    has_more: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Dossier:
    """A task with everything about it, each list bounded.

    `grounds` were read first: the lists show at least what its digest is about. A
    review that names `grounds.digest` is refused when there is more by then.
    """

    task: TaskRecord
    grounds: Grounds
    owner_refusal: str | None
    attempts: Sequence[Attempt]
    permits: Sequence[Permit]
    evidence: Shown[Evidence]
    contradictions: Shown[Contradiction]
    events: Shown[ToldEvent]
    operations: Shown[OperationAudit]
    lineage: Lineage
    waiting: Sequence[WaitingTurn]


def dossier_of(reach: Reach, task_id: UUID) -> Dossier:
    """The dossier of a task; raises TaskNotFound. The number of statements is fixed."""
    found = task_with_grounds(task_id)
    if found is None:
        raise TaskNotFound
    task, columns = found
    if not reach.covers(namespace_id=task.namespace_id, queue_id=task.queue_id):
        raise TaskNotFound
    owner_refusal = policy_for(task.owner).refuse_review(
        task_id=task_id, owner_id=task.owner_id
    )
    return Dossier(
        task=task,
        grounds=grounds_from(task, columns, does_owner_agree=owner_refusal is None),
        owner_refusal=owner_refusal,
        attempts=list(
            Attempt.objects.filter(task_id=task_id).order_by("number")[:MAX_ATTEMPTS]
        ),
        permits=list(
            Permit.objects.filter(task_id=task_id).order_by("acquired_at", "id")[
                :MAX_SHOWN
            ]
        ),
        evidence=_newest(
            Evidence.objects.filter(task_id=task_id).order_by("-received_at", "-id")
        ),
        contradictions=_newest(
            Contradiction.objects.filter(task_id=task_id).order_by("-created_at", "-id")
        ),
        events=_events(task_id),
        operations=_newest(
            OperationAudit.objects.filter(task_id=task_id).order_by(
                "-created_at", "-id"
            )
        ),
        lineage=lineage_of(reach, task_id),
        waiting=waiting_behind(task.owner, owner_id=task.owner_id, limit=MAX_SHOWN),
    )


def _newest(found: QuerySet[Row]) -> Shown[Row]:
    return _shown(found[: MAX_SHOWN + 1])


def _events(task_id: UUID) -> Shown[ToldEvent]:
    found = rows(EVENTS, {"task": task_id, "limit": MAX_SHOWN + 1})
    return _shown([ToldEvent._make(row) for row in found])


def _shown(newest_first: Iterable[Item]) -> Shown[Item]:
    found = list(newest_first)
    return Shown(items=found[:MAX_SHOWN][::-1], has_more=len(found) > MAX_SHOWN)
