"""The chain of retries that a task belongs to, from its root to its tip."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from orbit.exact_json import digest
from tasks_app.domain.access import Reach
from tasks_app.domain.errors import TaskNotFound
from tasks_app.domain.lineage import changed_paths
from tasks_app.models.statements.look import LINEAGE
from tasks_app.models.statements.run import rows

# Generations shown on each side of the task that was asked for.
MAX_GENERATIONS = 50

_COMPARED = (
    "queue_id",
    "handler",
    "handler_version",
    "payload_version",
    "business_key",
    "concurrency_key",
    "priority",
    "recovery_safety",
    "max_attempts",
    "initial_delay_ms",
    "max_delay_ms",
    "attempt_timeout_ms",
    "task_timeout_ms",
)


class _Row(NamedTuple):
    step: int
    id: UUID
    namespace_id: UUID
    queue_id: UUID
    state: str
    revision: int
    attempt_count: int
    created_at: datetime
    completed_at: datetime | None
    error_code: str | None
    handler: str
    handler_version: str
    payload_version: str
    business_key: str | None
    concurrency_key: str | None
    priority: int
    recovery_safety: str
    max_attempts: int
    initial_delay_ms: int
    max_delay_ms: int
    attempt_timeout_ms: int
    task_timeout_ms: int
    payload: str | None
    payload_bytes: int
    payload_before: str | None


class Change(NamedTuple):
    """A member that is otherwise than in the generation before."""

    field: str
    before: object
    after: object


@dataclass(frozen=True, slots=True, kw_only=True)
class Generation:
    """One task of the chain, and what it changed against the one before it.

    The root changed nothing. `payload_paths` are JSON pointers to what differs in the
    payload.
    """

    id: UUID
    step: int
    state: str
    revision: int
    attempt_count: int
    created_at: datetime
    completed_at: datetime | None
    error_code: str | None
    handler: str
    handler_version: str
    payload_digest: str
    payload_bytes: int
    changes: Sequence[Change] = ()
    payload_paths: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Lineage:
    """The chain around a task, in order; `step` 0 is the task that was asked for.

    With `has_earlier` or `has_later` the chain goes on: ask for the first or the last
    task that is shown.
    """

    generations: Sequence[Generation]
    has_earlier: bool
    has_later: bool


def lineage_of(reach: Reach, task_id: UUID) -> Lineage:
    """The retry chain of a task, root to tip, in one statement; raises TaskNotFound.

    A retry stays in the queue of its source, so the chain is within reach as a whole;
    what is not, is left out.
    """
    line = map(
        _Row._make, rows(LINEAGE, {"task": task_id, "limit": MAX_GENERATIONS + 1})
    )
    found = [
        row
        for row in line
        if reach.covers(namespace_id=row.namespace_id, queue_id=row.queue_id)
    ]
    if not any(row.step == 0 for row in found):
        raise TaskNotFound
    told = _told(found)
    return Lineage(
        generations=[it for it in told if abs(it.step) <= MAX_GENERATIONS],
        has_earlier=found[0].step < -MAX_GENERATIONS,
        has_later=found[-1].step > MAX_GENERATIONS,
    )


def _told(found: Sequence[_Row]) -> list[Generation]:
    told: list[Generation] = []
    payload_digest = ""
    for index, row in enumerate(found):
        if row.payload is not None:
            payload_digest = digest(row.payload)
        told.append(
            _generation(row, found[index - 1] if index else None, payload_digest)
        )
    return told


def _generation(row: _Row, before: _Row | None, payload_digest: str) -> Generation:
    changes = (
        ()
        if before is None
        else tuple(
            Change(name, getattr(before, name), getattr(row, name))
            for name in _COMPARED
            if getattr(before, name) != getattr(row, name)
        )
    )
    has_other_payload = row.payload is not None and row.payload_before is not None
    return Generation(
        id=row.id,
        step=row.step,
        state=row.state,
        revision=row.revision,
        attempt_count=row.attempt_count,
        created_at=row.created_at,
        completed_at=row.completed_at,
        error_code=row.error_code,
        handler=row.handler,
        handler_version=row.handler_version,
        payload_digest=payload_digest,
        payload_bytes=row.payload_bytes,
        changes=changes,
        payload_paths=changed_paths(row.payload_before or "", row.payload or "")
        if has_other_payload
        else (),
    )
