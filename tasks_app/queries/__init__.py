"""What the engine answers to readers; every read is bound to the caller's reach."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import Q, QuerySet
from django.db.models.expressions import RawSQL

from tasks_app.domain.access import Reach
from tasks_app.domain.errors import OperationNotFound, QueueNotFound, TaskNotFound
from tasks_app.domain.lifecycle import State
from tasks_app.models import (
    Application,
    Attempt,
    Evidence,
    Namespace,
    OperationAudit,
    Queue,
    Task,
)
from tasks_app.models.liveness import Liveness, measure_liveness
from tasks_app.models.record import SUMMARY_FIELDS, TaskRecord, task_from
from tasks_app.models.review import (
    ProposalRecord,
    proposals_from,
    proposals_of_task,
)
from tasks_app.models.slo import HourOfReview, RecoverySLO, by_hour, measure
from tasks_app.models.statements.propose import OPEN_PROPOSALS
from tasks_app.models.statements.read import STANDINGS, TASK, UNCLAIMED
from tasks_app.models.statements.run import rows


class Position(NamedTuple):
    """Where a list that is sorted by time, then id, goes on."""

    created_at: datetime
    id: UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskFilter:
    """Which tasks a list shows; None leaves a member open."""

    states: tuple[str, ...] = ()
    queue_id: UUID | None = None
    handler: str | None = None
    business_key: str | None = None
    created_from: datetime | None = None
    created_before: datetime | None = None

    def condition(self) -> Q:
        """The filter as a database condition."""
        wanted = {
            "state__in": [_word(State(it)) for it in self.states] or None,
            "queue_id": self.queue_id,
            "handler": self.handler,
            "business_key": self.business_key,
            "created_at__gte": self.created_from,
            "created_at__lt": self.created_before,
        }
        return Q(**{name: value for name, value in wanted.items() if value is not None})


def _word(state: State) -> RawSQL:
    """The state as a constant: by a parameter no partial index could be chosen."""
    return RawSQL(f"'{state}'", ())  # noqa: S611 - one of our own words


class TaskStanding(NamedTuple):
    """Where a task stands, as its owner shows it."""

    id: UUID
    state: str
    revision: int
    attempt_count: int
    is_gated: bool
    created_at: datetime
    started_at: datetime | None
    completed_at: datetime | None


class AttemptHistory(NamedTuple):
    """The attempts of a task in order, and the evidence that came too late."""

    attempts: list[Attempt]
    evidence: list[Evidence]


def task_within(reach: Reach, task_id: UUID) -> TaskRecord:
    """The whole task with payload and result; raises TaskNotFound."""
    found = rows(TASK, {"task": task_id})
    if not found:
        raise TaskNotFound
    task = task_from(found[0])
    if not reach.covers(namespace_id=task.namespace_id, queue_id=task.queue_id):
        raise TaskNotFound
    return task


def standings_of(task_ids: Collection[UUID]) -> dict[UUID, TaskStanding]:
    """Where these tasks stand, for the owner that opened them; one statement."""
    if not task_ids:
        return {}
    found = rows(STANDINGS, {"tasks": list(task_ids)})
    return {row[0]: TaskStanding._make(row) for row in found}


def has_queue(*, namespace_id: UUID, queue_id: UUID) -> bool:
    """Whether the namespace has this queue."""
    return Queue.objects.filter(namespace_id=namespace_id, id=queue_id).exists()


class QueuePlace(NamedTuple):
    """A queue by the names of what it belongs to; whether it wants two reviewers."""

    id: UUID
    namespace_id: UUID
    namespace: str
    application: str
    name: str
    wants_two: bool


_PLACE = (
    *("id", "namespace_id", "namespace__name", "application__name", "name"),
    "second_approver",
)


def queue_places(*, namespace_id: UUID | None = None) -> list[QueuePlace]:
    """All queues, or those of a namespace, for a person to choose from."""
    found = Queue.objects.order_by("namespace__name", "application__name", "name")
    if namespace_id is not None:
        found = found.filter(namespace_id=namespace_id)
    return [QueuePlace._make(row) for row in found.values_list(*_PLACE)]


def queue_place(queue_id: UUID) -> QueuePlace:
    """One queue by its names; raises QueueNotFound."""
    row = Queue.objects.filter(id=queue_id).values_list(*_PLACE).first()
    if row is None:
        raise QueueNotFound
    return QueuePlace._make(row)


def namespace_places() -> list[tuple[UUID, str]]:
    """Id and name of every namespace, by name."""
    return list(Namespace.objects.order_by("name").values_list("id", "name"))


def application_places() -> list[tuple[UUID, str, UUID]]:
    """Id, name and namespace of every application, by name."""
    found = Application.objects.order_by("namespace__name", "name")
    return list(found.values_list("id", "name", "namespace_id"))


def unclaimed_executions(*, overdue_ms: int, limit: int) -> list[UUID]:
    """Owners of scheduled tasks that nobody claimed though they could: oldest first."""
    found = rows(UNCLAIMED, {"overdue_ms": overdue_ms, "limit": limit})
    return [row[0] for row in found]


def tasks_within(
    reach: Reach, *, wanted: TaskFilter, after: Position | None, limit: int
) -> list[dict[str, Any]]:
    """Summaries, newest first, `limit` of them and one more if there are more.

    Neither payload nor result is read from the database.
    """
    tasks: QuerySet[Task] = _reached(reach).filter(wanted.condition())
    if after is not None:
        created_at, task_id = after
        tasks = tasks.filter(
            Q(created_at__lt=created_at) | Q(created_at=created_at, id__lt=task_id),
            created_at__lte=created_at,
        )
    return list(
        tasks.order_by("-created_at", "-id").values(*SUMMARY_FIELDS)[: limit + 1]
    )


def attempts_of(reach: Reach, task_id: UUID) -> AttemptHistory:
    """What a reviewer needs to see of a task's executions; raises TaskNotFound."""
    _require_task(reach, task_id)
    return AttemptHistory(
        attempts=list(Attempt.objects.filter(task_id=task_id).order_by("number")),
        evidence=list(
            Evidence.objects.filter(task_id=task_id).order_by("received_at", "id")
        ),
    )


def operations_of(
    reach: Reach, task_id: UUID, *, after: Position | None, limit: int
) -> list[OperationAudit]:
    """The task's operations, newest first (spec, section 4), and one more than `limit`.

    Reason, before and after are not read. Raises TaskNotFound.
    """
    _require_task(reach, task_id)
    operations = OperationAudit.objects.filter(task_id=task_id)
    if after is not None:
        created_at, audit_id = after
        operations = operations.filter(
            Q(created_at__lt=created_at) | Q(created_at=created_at, id__lt=audit_id),
            created_at__lte=created_at,
        )
    return list(
        operations.order_by("-created_at", "-id").defer(
            "reason", "evidence_ref", "before", "after"
        )[: limit + 1]
    )


def operation_of(reach: Reach, task_id: UUID, audit_id: UUID) -> OperationAudit:
    """One operation of the task; raises TaskNotFound or OperationNotFound."""
    _require_task(reach, task_id)
    try:
        return OperationAudit.objects.get(id=audit_id, task_id=task_id)
    except OperationAudit.DoesNotExist:
        raise OperationNotFound from None


def proposals_of(reach: Reach, task_id: UUID) -> list[ProposalRecord]:
    """The reviews proposed for the task, oldest first; raises TaskNotFound."""
    _require_task(reach, task_id)
    return proposals_of_task(task_id)


def open_proposals(
    reach: Reach, *, after: Position | None, limit: int
) -> list[ProposalRecord]:
    """Proposals that wait for approval, newest first, and one more than `limit`."""
    return proposals_from(
        rows(
            OPEN_PROPOSALS,
            {
                "namespace": reach.namespace_id,
                "queues": None if reach.queue_ids is None else list(reach.queue_ids),
                "after_at": after and after.created_at,
                "after_id": after and after.id,
                "limit": limit + 1,
            },
        )
    )


def recovery_slo(reach: Reach, *, window: timedelta) -> RecoverySLO:
    """How recovery stands now; `window` is what the time to settle looks back over.

    Its cost grows with what needs review and with what was settled in the window (at
    most the newest 10 000 of it), never with the number of tasks.
    """
    return measure(reach, window=window)


def review_by_hour(reach: Reach) -> list[HourOfReview]:
    """What came to need review and what was settled, for each of the last 24 hours."""
    return by_hour(reach)


def liveness(reach: Reach) -> Liveness:
    """Who holds leases, which queues wait, and whether maintenance keeps up."""
    return measure_liveness(reach)


def _reached(reach: Reach) -> QuerySet[Task]:
    tasks: QuerySet[Task] = Task.objects.filter(namespace_id=reach.namespace_id)
    if reach.queue_ids is not None:
        tasks = tasks.filter(queue_id__in=reach.queue_ids)
    return tasks


def _require_task(reach: Reach, task_id: UUID) -> None:
    if not _reached(reach).filter(id=task_id).exists():
        raise TaskNotFound
