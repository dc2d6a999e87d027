"""What became of a write whose answer got lost; nothing is repeated or recorded."""

from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

import msgspec

from tasks_app.domain.access import Actor, Reach
from tasks_app.domain.errors import QueueNotFound
from tasks_app.domain.receipts import LookUpReceipt, Verdict
from tasks_app.models import Queue
from tasks_app.models.statements.look import OWN_RECEIPT
from tasks_app.models.statements.run import rows
from tasks_app.queries import task_within


class KeptReceipt(NamedTuple):
    """Where the write is found: its task, the operation, and the state it left."""

    content_digest: bytes
    task_id: UUID
    audit_id: UUID
    state: str
    revision: int
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """The verdict on a key, and the receipt where there is one.

    `is_content_compared` is False when no digest was sent: then COMMITTED says nothing
    of the content.
    """

    verdict: Verdict
    is_content_compared: bool
    receipt: KeptReceipt | None = None


def receipt_of(
    command: LookUpReceipt, *, key_digest: bytes, actor: Actor, reach: Reach
) -> Finding:
    """What this actor's key did, as it is committed now.

    The keys of other actors are never seen. Raises TaskNotFound or QueueNotFound when
    the target is out of reach.
    """
    target_id = UUID(command.target_id)
    found = rows(
        OWN_RECEIPT,
        {
            "namespace": reach.namespace_id,
            "operation": command.operation,
            "subject": _subject(command.operation, target_id, reach),
            "key_digest": key_digest,
            "actor": actor.id,
            "actor_kind": actor.kind,
        },
    )
    expected = command.content_digest
    is_compared = expected is not msgspec.UNSET
    if not found:
        return Finding(verdict=Verdict.NEVER_SEEN, is_content_compared=is_compared)
    receipt = KeptReceipt._make(found[0])
    is_same = not is_compared or bytes(receipt.content_digest).hex() == expected
    return Finding(
        verdict=Verdict.COMMITTED if is_same else Verdict.DIFFERENT,
        is_content_compared=is_compared,
        receipt=receipt,
    )


def _subject(operation: str, target_id: UUID, reach: Reach) -> UUID:
    """Submits share their keys in an application, all else has the task's own."""
    if operation != "task.submit":
        return task_within(reach, target_id).id
    if not reach.covers(namespace_id=reach.namespace_id, queue_id=target_id):
        raise QueueNotFound
    application_id: UUID | None = (
        Queue.objects.filter(namespace_id=reach.namespace_id, id=target_id)
        .values_list("application_id", flat=True)
        .first()
    )
    if application_id is None:
        raise QueueNotFound
    return application_id
