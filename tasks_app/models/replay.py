"""Receipts read back: the answer that the same key gets again."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from tasks_app.domain.errors import IdempotencyConflict
from tasks_app.domain.idempotency import Identity
from tasks_app.models.record import TaskRecord, task_from
from tasks_app.models.statements.read import TASKS
from tasks_app.models.statements.run import rows


class Answered(NamedTuple):
    """A task as an operation left it, with the audit record of that operation."""

    task: TaskRecord
    audit_id: UUID
    deduplicated: bool


class StoredReceipt(NamedTuple):
    """What a key did before; columns in the order in which the reads select them."""

    content_digest: bytes
    task_id: UUID
    audit_id: UUID
    state: str
    revision: int
    attempt_count: int
    updated_at: datetime

    def check_content(self, identity: Identity) -> None:
        """Raise IdempotencyConflict unless the content is the same."""
        if bytes(self.content_digest) != identity.content_digest:
            raise IdempotencyConflict


def stored_receipt(columns: tuple[Any, ...]) -> StoredReceipt | None:
    """The receipt in `columns`, or None where the outer join found none."""
    return None if columns[0] is None else StoredReceipt._make(columns)


def replay_all(receipts: Iterable[StoredReceipt]) -> dict[UUID, Answered]:
    """The answers of receipts, by the id of their task."""
    by_task = {receipt.task_id: receipt for receipt in receipts}
    if not by_task:
        return {}
    return {
        task.id: _answer(task, by_task[task.id])
        for task in map(task_from, rows(TASKS, {"tasks": list(by_task)}))
    }


def replay(receipt: StoredReceipt) -> Answered:
    """The answer of one receipt."""
    return replay_all([receipt])[receipt.task_id]


def _answer(task: TaskRecord, receipt: StoredReceipt) -> Answered:
    then = task.as_of(
        state=receipt.state,
        revision=receipt.revision,
        attempt_count=receipt.attempt_count,
        updated_at=receipt.updated_at,
    )
    return Answered(task=then, audit_id=receipt.audit_id, deduplicated=True)
