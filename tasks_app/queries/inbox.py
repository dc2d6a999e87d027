"""What waits for a person: the tasks that need review, and where they stand in turn."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from tasks_app.domain.causes import CAUSES, Cause, cause_of
from tasks_app.domain.errors import TaskNotFound
from tasks_app.domain.lifecycle import OwnerKind
from tasks_app.domain.ownership import Blocked, blocked_by
from tasks_app.models import InboxView, Task
from tasks_app.models.statements.inbox import COUNT, INBOX, ROOMS
from tasks_app.models.statements.run import as_json, rows

MOST_COUNTED = 1_000
MOST_REPORTS = 100

_CAUSES = as_json(CAUSES)


class InboxPosition(NamedTuple):
    """Where the list goes on: after this moment, then id."""

    updated_at: datetime
    id: UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class InboxFilter:
    """Which tasks are shown; None leaves a member open.

    The ages are how long a task has waited, both bounds included.
    """

    queue_id: UUID | None = None
    handler: str | None = None
    cause: Cause | None = None
    error_code: str | None = None
    min_age_ms: int | None = None
    max_age_ms: int | None = None


class _Row(NamedTuple):
    id: UUID
    queue_id: UUID
    queue: str
    application: str
    handler: str
    business_key: str | None
    error_code: str | None
    owner_kind: str
    owner_id: UUID | None
    attempt_count: int
    updated_at: datetime
    late_reports: int


@dataclass(frozen=True, slots=True, kw_only=True)
class InboxItem:
    """A task that needs review since `since`.

    It holds one unit of its queue's quota, which has room for `room` more tasks.
    `late_reports` are counted up to MOST_REPORTS.
    """

    id: UUID
    queue: str
    application: str
    handler: str
    business_key: str | None
    cause: Cause
    error_code: str | None
    attempt_count: int
    since: datetime
    late_reports: int
    room: int
    blocked: Blocked | None


class InboxCount(NamedTuple):
    """How many wait, counted up to MOST_COUNTED and then `is_more`; since when; now.

    `disagreements` are the late reports of the last day that disagree with an outcome,
    whatever is wanted.
    """

    waiting: int
    is_more: bool
    oldest: datetime | None
    now: datetime
    disagreements: int


def inbox(
    wanted: InboxFilter, *, after: InboxPosition | None, limit: int
) -> list[InboxItem]:
    """What needs review, oldest first, `limit` of them and one more if there are more.

    Of all namespaces: for people with the permission. Neither payload nor result is
    read. At most three statements, however long the page is.
    """
    after_at, after_id = after or (None, None)
    found = [
        _Row._make(row)
        for row in rows(
            INBOX,
            {
                **_parameters(wanted, most=MOST_REPORTS),
                "after_at": after_at,
                "after_id": after_id,
                "limit": limit + 1,
            },
        )
    ]
    rooms = rooms_of({row.queue_id for row in found})
    blocked = _blocked(found)
    return [_item(row, rooms=rooms, blocked=blocked) for row in found]


def count_inbox(wanted: InboxFilter) -> InboxCount:
    """How many there are; looks no further than MOST_COUNTED."""
    [(count, oldest, now, disagreements)] = rows(
        COUNT, _parameters(wanted, most=MOST_COUNTED + 1)
    )
    return InboxCount(
        min(count, MOST_COUNTED), count > MOST_COUNTED, oldest, now, disagreements
    )


def views_of(owner_id: int) -> list[InboxView]:
    """The views that a person keeps, by name."""
    return list(InboxView.objects.filter(owner_id=owner_id).order_by("name"))


def rooms_of(scopes: Iterable[UUID]) -> Mapping[UUID, int]:
    """How many more tasks each of these queues and applications accepts now."""
    wanted = list(scopes)
    return dict(rows(ROOMS, {"scopes": wanted})) if wanted else {}


def namespace_of(task_id: UUID) -> UUID:
    """The namespace of a task, for people who may see all; raises TaskNotFound."""
    found: UUID | None = (
        Task.objects.filter(id=task_id).values_list("namespace_id", flat=True).first()
    )
    if found is None:
        raise TaskNotFound
    return found


def _parameters(wanted: InboxFilter, *, most: int) -> dict[str, Any]:
    return {
        "queue": wanted.queue_id,
        "handler": wanted.handler,
        "cause": wanted.cause,
        "causes": _CAUSES,
        "error_code": wanted.error_code,
        "min_age_ms": wanted.min_age_ms,
        "max_age_ms": wanted.max_age_ms,
        "most": most,
    }


def _blocked(found: list[_Row]) -> Mapping[UUID, Blocked]:
    owners: dict[OwnerKind, list[UUID]] = {}
    for row in found:
        if row.owner_id is not None:
            owners.setdefault(OwnerKind(row.owner_kind), []).append(row.owner_id)
    return {
        owner_id: told
        for kind, ids in owners.items()
        for owner_id, told in blocked_by(kind, ids).items()
    }


def _item(
    row: _Row, *, rooms: Mapping[UUID, int], blocked: Mapping[UUID, Blocked]
) -> InboxItem:
    return InboxItem(
        id=row.id,
        queue=row.queue,
        application=row.application,
        handler=row.handler,
        business_key=row.business_key,
        cause=cause_of(row.error_code),
        error_code=row.error_code,
        attempt_count=row.attempt_count,
        since=row.updated_at,
        late_reports=row.late_reports,
        room=rooms.get(row.queue_id, 0),
        blocked=None if row.owner_id is None else blocked.get(row.owner_id),
    )
