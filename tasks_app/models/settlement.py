"""Owners are told, in the same transaction, that tasks of theirs became final."""

from collections.abc import Iterable
from uuid import UUID

from orbit.transactions import require_transaction
from tasks_app.domain.lifecycle import FINAL, OwnerKind, State
from tasks_app.domain.ownership import Settled, policy_for
from tasks_app.models.record import TaskRecord


def warn_owners(tasks: Iterable[TaskRecord]) -> None:
    """Let the owners of tasks that are about to be final take their locks, in order."""
    require_transaction()
    owners: dict[OwnerKind, list[UUID]] = {}
    for task in tasks:
        if task.owner_id is not None:
            owners.setdefault(task.owner, []).append(task.owner_id)
    for kind in sorted(owners):
        policy_for(kind).before_settling(owners[kind])


def tell_owners(tasks: Iterable[TaskRecord]) -> None:
    """Let the owners of final tasks go on; a standalone task has nobody to tell.

    Each owner hears of all its tasks at once, so that it can lock in one order.
    """
    require_transaction()
    settled: dict[OwnerKind, list[Settled]] = {}
    for task in tasks:
        if task.owner_id is not None and task.state in FINAL:
            settled.setdefault(task.owner, []).append(
                Settled(
                    task_id=task.id, owner_id=task.owner_id, state=State(task.state)
                )
            )
    for kind, ended in settled.items():
        policy_for(kind).on_settled(ended)
