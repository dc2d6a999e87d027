"""Whose turn it is: locks on jobs, and the gate of a serial job's next execution.

Locks are taken in one order: tasks, jobs, turns, quota. A job's turn is an advisory
lock, so that many may start a parallel job at once while one alone decides the order of
a serial one.
"""

from collections.abc import Collection, Sequence
from typing import NamedTuple
from uuid import UUID

from django.db import connection

from openapi_app.domain.words import ConcurrencyPolicy
from openapi_app.models.execution import JobExecution
from orbit import clock
from orbit.transactions import require_transaction
from tasks_app.public import Blocked, WaitingTurn, open_gate

KEEP_JOBS_OF = """
SELECT j.id, j.concurrency_policy FROM openapi_job j
WHERE j.id IN (SELECT e.job_id FROM openapi_job_execution e WHERE e.id = ANY(%s))
ORDER BY j.id FOR SHARE OF j
"""

# The number keeps these keys apart from other advisory locks.
TAKE_TURN = "SELECT pg_advisory_xact_lock(hashtextextended(%s::text, 730))"

# The oldest execution of each job that is not settled has its turn.
NEXT = """
SELECT n.id, n.task_id
FROM unnest(%(jobs)s::uuid[]) AS j(id) CROSS JOIN LATERAL (
    SELECT e.id, e.task_id, e.is_waiting_turn FROM openapi_job_execution e
    WHERE e.job_id = j.id AND NOT e.is_settled
    ORDER BY e.accepted_at, e.id LIMIT 1) n
WHERE n.is_waiting_turn
ORDER BY n.task_id
"""

# The second half sees the rows as they were before the first.
SETTLE_AND_NEXT = """
WITH settled AS (
    UPDATE openapi_job_execution SET is_settled = true, is_waiting_turn = false
    WHERE id = ANY(%(settled)s) RETURNING job_id
)
SELECT n.id, n.task_id
FROM (SELECT DISTINCT s.job_id AS id FROM settled s) AS j CROSS JOIN LATERAL (
    SELECT e.id, e.task_id, e.is_waiting_turn FROM openapi_job_execution e
    WHERE e.job_id = j.id AND NOT e.is_settled AND e.id <> ALL(%(settled)s)
    ORDER BY e.accepted_at, e.id LIMIT 1) n
WHERE n.is_waiting_turn
ORDER BY n.task_id
"""

# Jobs whose next execution waits although nothing is before it.
STUCK = """
SELECT DISTINCT e.job_id FROM openapi_job_execution e
WHERE NOT e.is_settled AND e.is_waiting_turn AND NOT EXISTS (
    SELECT FROM openapi_job_execution b
    WHERE b.job_id = e.job_id AND NOT b.is_settled
      AND (b.accepted_at, b.id) < (e.accepted_at, e.id))
LIMIT %s
"""


# What waits behind one execution, and whether it is next when that one is left out.
BEHIND = """
SELECT j.id, j.name, n.id, n.task_id, n.place = 1 AND NOT o.is_settled
FROM openapi_job_execution o JOIN openapi_job j ON j.id = o.job_id
CROSS JOIN LATERAL (
    SELECT e.id, e.task_id, e.is_waiting_turn,
           row_number() OVER (ORDER BY e.accepted_at, e.id) AS place
    FROM openapi_job_execution e
    WHERE e.job_id = o.job_id AND NOT e.is_settled AND e.id <> o.id
    ORDER BY e.accepted_at, e.id LIMIT %s) n
WHERE o.id = %s AND n.is_waiting_turn
ORDER BY n.place
"""


# How many wait behind each execution, counted up to a bound.
BLOCKED = """
SELECT o.id, j.name, n.waiting
FROM openapi_job_execution o JOIN openapi_job j ON j.id = o.job_id
CROSS JOIN LATERAL (
    SELECT count(*) AS waiting FROM (
        SELECT FROM openapi_job_execution e
        WHERE e.job_id = o.job_id AND NOT e.is_settled AND e.is_waiting_turn
          AND (e.accepted_at, e.id) > (o.accepted_at, o.id) LIMIT %s) w) n
WHERE o.id = ANY(%s) AND n.waiting > 0
"""


class Turn(NamedTuple):
    """An execution whose turn has come, and its gated task."""

    execution_id: UUID
    task_id: UUID


def take_turn(job_id: UUID) -> None:
    """Be the only one to decide what runs next of this job."""
    require_transaction()
    with connection.cursor() as cursor:
        cursor.execute(TAKE_TURN, [str(job_id)])


def keep_jobs_of(execution_ids: Collection[UUID]) -> None:
    """Keep the jobs of these executions as they are, and take their turns in order."""
    require_transaction()
    with connection.cursor() as cursor:
        cursor.execute(KEEP_JOBS_OF, [list(execution_ids)])
        kept = cursor.fetchall()
    for job_id, policy in kept:
        if policy != ConcurrencyPolicy.PARALLEL:
            take_turn(job_id)


def is_busy(job_id: UUID) -> bool:
    """Whether an execution of the job is not settled; asked under the turn."""
    return JobExecution.objects.filter(job_id=job_id, is_settled=False).exists()


def settle(execution_ids: Collection[UUID]) -> list[UUID]:
    """Note that these executions are done with, and open the next turn of their jobs.

    Answers the executions let through, as open_turns() does.
    """
    return _open(SETTLE_AND_NEXT, settled=list(execution_ids))


def stuck_jobs(*, limit: int) -> list[UUID]:
    """Jobs whose next execution was not let go on when it should have been."""
    with connection.cursor() as cursor:
        cursor.execute(STUCK, [limit])
        return [job_id for (job_id,) in cursor.fetchall()]


def waiting_behind(execution_id: UUID, *, limit: int) -> list[WaitingTurn]:
    """The executions that wait for this one to be settled, in the order of turns."""
    with connection.cursor() as cursor:
        cursor.execute(BEHIND, [limit, execution_id])
        return [
            WaitingTurn(
                job_id=job_id,
                job_name=name,
                owner_id=waiting_id,
                task_id=task_id,
                goes_on=goes_on,
            )
            for job_id, name, waiting_id, task_id, goes_on in cursor.fetchall()
        ]


def blocked_by(execution_ids: Sequence[UUID], *, limit: int) -> dict[UUID, Blocked]:
    """What each of these executions keeps waiting, counted up to `limit`."""
    with connection.cursor() as cursor:
        cursor.execute(BLOCKED, [limit, list(execution_ids)])
        return {
            execution_id: Blocked(job_name=name, executions=waiting)
            for execution_id, name, waiting in cursor.fetchall()
        }


def open_turns(job_ids: Sequence[UUID]) -> list[UUID]:
    """Open the gate of each job's next execution; answers the executions let through.

    A task that somebody holds right now stays gated: its holder ends it, or a later
    pass opens it.
    """
    return _open(NEXT, jobs=list(job_ids))


def _open(statement: str, **parameters: list[UUID]) -> list[UUID]:
    require_transaction()
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        turns = [Turn._make(row) for row in cursor.fetchall()]
    if not turns:
        return []
    now = clock.now()
    opened = [
        turn.execution_id for turn in turns if open_gate(task_id=turn.task_id, now=now)
    ]
    JobExecution.objects.filter(id__in=opened).update(is_waiting_turn=False)
    return opened
