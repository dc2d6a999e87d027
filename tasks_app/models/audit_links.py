"""Chains of audit records, streamed from the database."""

import heapq
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from itertools import islice
from typing import Any
from uuid import UUID

from django.db import connection, transaction
from django.db.models import Exists, OuterRef, QuerySet

from tasks_app.domain.audit_chain import AuditEntry
from tasks_app.domain.audit_verification import (
    Fault,
    Head,
    Link,
    SealedEntry,
    Wrong,
)
from tasks_app.models.operation_audit import OperationAudit
from tasks_app.models.task import Task

CHUNK = 2_000


@contextmanager
def one_moment() -> Iterator[None]:
    """All reads inside see the database as it was at the first of them.

    Not inside another transaction; writers are not held up.
    """
    with transaction.atomic(durable=True):
        with connection.cursor() as cursor:
            cursor.execute(
                "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY;"
                # Whoever takes the rows may be slow.
                " SET LOCAL statement_timeout = 0;"
                " SET LOCAL idle_in_transaction_session_timeout = 0"
            )
        yield


def audit_links(
    *,
    task_id: UUID | None = None,
    namespace_id: UUID | None = None,
    since: datetime | None = None,
) -> Iterator[Link]:
    """Records and heads in the order in which a verification reads them.

    They are read as they are taken. `since` leaves out what each task has before its
    first record of that time; a task without a later one is left out wholly.
    """
    entries = OperationAudit.objects.order_by("task_id", "sequence")
    heads = Task.objects.order_by("id")
    if task_id is not None:
        entries, heads = entries.filter(task_id=task_id), heads.filter(id=task_id)
    if namespace_id is not None:
        entries = entries.filter(namespace_id=namespace_id)
        heads = heads.filter(namespace_id=namespace_id)
    if since is not None:
        late = OperationAudit.objects.filter(created_at__gte=since)
        # By place: a clock that was set back must leave no hole in the middle.
        entries = entries.filter(
            Exists(
                late.filter(
                    task_id=OuterRef("task_id"), sequence__lte=OuterRef("sequence")
                )
            )
        )
        heads = heads.filter(Exists(late.filter(task_id=OuterRef("id"))))
    return heapq.merge(
        _entries(entries.values_list(*AuditEntry._fields, "entry_hash")),
        _heads(heads.values_list("id", "audit_length", "audit_head")),
        key=_order,
    )


def differences(links: Iterable[Link]) -> Iterator[Fault]:
    """Where the database no longer says what these links of an export say.

    What was added to the database since then is no difference.
    """
    links = iter(links)
    while chunk := list(islice(links, CHUNK)):
        yield from _entry_differences(
            [it for it in chunk if isinstance(it, SealedEntry)]
        )
        yield from _head_differences([it for it in chunk if isinstance(it, Head)])


def _entries(rows: QuerySet[Any, Any]) -> Iterator[SealedEntry]:
    for *columns, sealed in rows.iterator(chunk_size=CHUNK):
        entry = AuditEntry._make(columns)
        yield SealedEntry(
            entry._replace(previous_hash=bytes(entry.previous_hash)), bytes(sealed)
        )


def _heads(rows: QuerySet[Any, Any]) -> Iterator[Head]:
    for task_id, length, sealed in rows.iterator(chunk_size=CHUNK):
        yield Head(task_id, length, bytes(sealed))


def _order(link: Link) -> tuple[int, bool]:
    if isinstance(link, Head):
        return link.task_id.int, True
    return link.entry.task_id.int, False


def _entry_differences(exported: list[SealedEntry]) -> Iterator[Fault]:
    there = {
        (task_id, sequence): bytes(sealed)
        for task_id, sequence, sealed in OperationAudit.objects.filter(
            id__in=[link.entry.id for link in exported]
        ).values_list("task_id", "sequence", "entry_hash")
    }
    for link in exported:
        entry = link.entry
        sealed = there.get((entry.task_id, entry.sequence))
        if sealed == link.entry_hash:
            continue
        detail = (
            "The database has no such record at this place."
            if sealed is None
            else "The database has another hash for this record."
        )
        yield Fault(Wrong.DIFFERENT, entry.task_id, entry.sequence, entry.id, detail)


def _head_differences(exported: list[Head]) -> Iterator[Fault]:
    there = dict(
        Task.objects.filter(id__in=[head.task_id for head in exported]).values_list(
            "id", "audit_length"
        )
    )
    for head in exported:
        if there.get(head.task_id, 0) < head.length:
            yield Fault(
                Wrong.DIFFERENT,
                head.task_id,
                head.length,
                None,
                f"The database knows {there.get(head.task_id, 0)} of its records.",
            )
