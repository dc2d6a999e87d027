"""Quota in shares: what a scope may still accept, spread over a few rows.

A connection prefers the share of its own number, so writers rarely meet; sums are exact
at every commit because units only move inside transactions. Locks on shares are taken
after those on tasks, an application's before a queue's.
"""

from collections.abc import Iterable
from typing import Protocol, TypeVar
from uuid import UUID

from django.db import transaction

from tasks_app.models.statements.run import as_json, rows

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

SHARES = 16

# The order in which a connection looks at the shares of a scope, its own first.
PREFERENCE = f"(s.number - pg_backend_pid() %% {SHARES} + {SHARES}) %% {SHARES}"

LOCK_ALL = """
SELECT s.scope_id, s.number, s.available
FROM tasks_quota_share s
WHERE s.scope_id IN (%(application)s, %(queue)s)
ORDER BY s.scope_id = %(queue)s, s.number
FOR UPDATE
"""

LOCK_ALL_OF_QUEUE = """
SELECT s.scope_id
FROM tasks_quota_share s
WHERE s.scope_id IN (%(queue)s, (SELECT q.application_id FROM tasks_queue q
                                 WHERE q.id = %(queue)s))
ORDER BY s.scope_id = %(queue)s, s.number
FOR UPDATE
"""

LOCK_OWN = f"""
SELECT s.scope_id
FROM tasks_quota_share s
WHERE s.scope_id = ANY(%(scopes)s) AND s.number = pg_backend_pid() %% {SHARES}
ORDER BY s.scope_id
FOR UPDATE
"""

TAKE = """
UPDATE tasks_quota_share s SET available = s.available - i.units
FROM json_to_recordset(%(takes)s::json)
     AS i(scope_id uuid, number smallint, units bigint)
WHERE s.scope_id = i.scope_id AND s.number = i.number
RETURNING s.number
"""

INSERT = """
INSERT INTO tasks_quota_share (scope_id, number, available)
SELECT %(scope)s, n, %(limit)s / %(shares)s
                     + CASE WHEN n < %(limit)s %% %(shares)s THEN 1 ELSE 0 END
FROM generate_series(0, %(shares)s - 1) n
RETURNING number
"""

LOCK_SCOPE = """
SELECT s.number, s.available FROM tasks_quota_share s
WHERE s.scope_id = %(scope)s ORDER BY s.number FOR UPDATE
"""

SPREAD = """
UPDATE tasks_quota_share s SET available = CASE
    WHEN %(total)s < 0 THEN CASE WHEN s.number = 0 THEN %(total)s ELSE 0 END
    ELSE %(total)s / %(shares)s
         + CASE WHEN s.number < %(total)s %% %(shares)s THEN 1 ELSE 0 END
    END
WHERE s.scope_id = %(scope)s
RETURNING s.number
"""


class SharesBusy(Exception):
    """No share could be had without waiting; begin again, patiently."""


class Write(Protocol[T_co]):
    """A write that can wait for shares."""

    def __call__(self, *, is_patient: bool) -> T_co:
        """Write, within the caller's transaction."""


def patiently(write: Write[T]) -> T:
    """Run `write` in a durable transaction; again, willing to wait, if shares are busy.

    `is_patient` is False the first time and True when it must wait for shares.
    """
    try:
        with transaction.atomic(durable=True):
            return write(is_patient=False)
    except SharesBusy:
        with transaction.atomic(durable=True):
            return write(is_patient=True)


def lock_own_shares(*, applications: Iterable[UUID], queues: Iterable[UUID]) -> None:
    """Wait for this connection's own share of each scope."""
    for scopes in (applications, queues):
        rows(LOCK_OWN, {"scopes": sorted(set(scopes))})


def lock_all_shares(*, queue: UUID) -> None:
    """Wait for every share of the queue and its application: no submission is open."""
    rows(LOCK_ALL_OF_QUEUE, {"queue": queue})


def take_under_lock(*, application: UUID, queue: UUID, wanted: int) -> tuple[int, UUID]:
    """Lock all shares of both scopes and take up to `wanted` units of each.

    Answers how many were taken, and the scope that allowed the fewest.
    """
    shares = rows(LOCK_ALL, {"application": application, "queue": queue})
    left = {
        scope: sum(available for owner, _, available in shares if owner == scope)
        for scope in (application, queue)
    }
    scarce = min(left, key=lambda scope: left[scope])
    units = max(0, min(wanted, left[scarce]))
    takes = [
        take
        for scope in (application, queue)
        for take in _spread_take(
            [(number, free) for owner, number, free in shares if owner == scope],
            scope=scope,
            units=units,
        )
    ]
    if takes:
        rows(TAKE, {"takes": as_json(takes)})
    return units, scarce


def _spread_take(
    shares: list[tuple[int, int]], *, scope: UUID, units: int
) -> list[dict[str, object]]:
    takes: list[dict[str, object]] = []
    for number, free in shares:
        part = min(units, max(0, free))
        if part:
            takes.append({"scope_id": scope, "number": number, "units": part})
            units -= part
    return takes


def open_scope(*, scope: UUID, limit: int) -> None:
    """Create the shares of a new queue or application."""
    rows(INSERT, {"scope": scope, "limit": limit, "shares": SHARES})


def change_limit(*, scope: UUID, by: int) -> None:
    """Raise or lower the limit of a scope; what is outstanding stays counted."""
    shares = rows(LOCK_SCOPE, {"scope": scope})
    total = sum(available for _, available in shares) + by
    rows(SPREAD, {"scope": scope, "total": total, "shares": SHARES})
