"""Owners are told, in the same transaction, that a task of theirs became final."""

from collections.abc import Iterable

from orbit.transactions import require_transaction
from tasks_app.domain.lifecycle import FINAL, OwnerKind, State
from tasks_app.domain.ownership import policy_for
from tasks_app.models.record import TaskRecord


def tell_owners(tasks: Iterable[TaskRecord]) -> None:
    """Let the owner of each final task go on; a standalone task has nobody to tell."""
    require_transaction()
    for task in tasks:
        if task.owner_kind != OwnerKind.STANDALONE and task.state in FINAL:
            policy_for(task.owner).on_settled(
                task_id=task.id, owner_id=task.owner_id, state=State(task.state)
            )
