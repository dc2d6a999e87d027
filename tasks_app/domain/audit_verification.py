"""Whether chains of audit records are whole: from a database or from an export."""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple
from uuid import UUID

from tasks_app.domain.audit_chain import GENESIS, AuditEntry, entry_hash

# How many other places are tried for a record that does not fit its own.
MOST_PLACES = 1_000


class Wrong(StrEnum):
    """What is wrong with a record or a chain."""

    ALTERED = "altered"
    MISSING = "missing"
    OUT_OF_ORDER = "out of order"
    HEAD_MISMATCH = "head mismatch"
    DIFFERENT = "different from the database"
    INCOMPLETE = "incomplete export"


class Fault(NamedTuple):
    """One finding; what it is about is None where there is no such thing any more."""

    wrong: Wrong
    task_id: UUID | None
    sequence: int | None
    audit_id: UUID | str | None
    detail: str


class SealedEntry(NamedTuple):
    """A record with the hash that is stored for it."""

    entry: AuditEntry
    entry_hash: bytes


class Head(NamedTuple):
    """What the task's own row says of its chain; it follows the records of its task."""

    task_id: UUID
    length: int
    entry_hash: bytes


Link = SealedEntry | Head


@dataclass(slots=True)
class Tally:
    """What was seen; the digest is that of every head, in the order of the tasks."""

    tasks: int = 0
    records: int = 0
    faults: int = 0
    digest: str = hashlib.sha256().hexdigest()


class Verification:
    """Reads links and yields faults; memory does not grow with what is read.

    The links of a task come together, by sequence, and its head after them. A
    `is_partial` chain may begin anywhere: what came before is taken on trust.
    """

    def __init__(self, *, is_partial: bool = False) -> None:
        self.tally = Tally()
        self.is_partial = is_partial
        self._heads = hashlib.sha256()
        self._task_id: UUID | None = None
        self._place = 0
        self._last: tuple[bytes, ...] = ()

    def faults_of(self, links: Iterable[Link]) -> Iterator[Fault]:
        """Each fault as it is found; afterwards the tally is final."""
        for link in links:
            yield from self._counted(self._look(link))
        if self._task_id is not None:
            yield from self._counted([self._headless()])
        self.tally.digest = self._heads.hexdigest()

    def _counted(self, faults: Iterable[Fault]) -> Iterator[Fault]:
        for fault in faults:
            self.tally.faults += 1
            yield fault

    def _look(self, link: Link) -> Iterator[Fault]:
        if isinstance(link, Head):
            yield from self._end(link)
            return
        if link.entry.task_id != self._task_id:
            if self._task_id is not None:
                yield self._headless()
            self._begin(link.entry)
        self.tally.records += 1
        yield from self._follow(link)

    def _begin(self, first: AuditEntry) -> None:
        self._task_id = first.task_id
        self._place, self._last = 0, (GENESIS,)
        if self.is_partial:
            self._place, self._last = first.sequence - 1, (first.previous_hash,)

    def _follow(self, link: SealedEntry) -> Iterator[Fault]:
        entry, computed = link.entry, entry_hash(link.entry)
        is_next = entry.sequence == self._place + 1
        if entry.sequence > self._place + 1:
            yield self._gap(entry.task_id, entry.sequence - 1)
        if computed != link.entry_hash:
            yield self._misfit(link)
        elif is_next and entry.previous_hash not in self._last:
            yield _fault(
                Wrong.OUT_OF_ORDER, entry, "It does not follow the record before it."
            )
        elif entry.sequence <= self._place:
            yield _fault(Wrong.OUT_OF_ORDER, entry, "Its place is taken twice.")
        # A record whose hash was altered is one fault, not two.
        self._last = (link.entry_hash, computed)
        self._place = max(self._place, entry.sequence)

    def _misfit(self, link: SealedEntry) -> Fault:
        entry = link.entry
        for place in range(1, MOST_PLACES + 1):
            if entry_hash(entry._replace(sequence=place)) == link.entry_hash:
                return _fault(
                    Wrong.OUT_OF_ORDER, entry, f"It was written at place {place}."
                )
        return _fault(
            Wrong.ALTERED, entry, "Its contents are not those that were hashed."
        )

    def _gap(self, task_id: UUID, until: int) -> Fault:
        since = self._place + 1
        several = "" if since == until else f" to {until}"
        return Fault(
            Wrong.MISSING, task_id, since, None, f"No record at place {since}{several}."
        )

    def _end(self, head: Head) -> Iterator[Fault]:
        if head.task_id != self._task_id:
            if self._task_id is not None:
                yield self._headless()
            self._task_id, self._place, self._last = head.task_id, 0, (GENESIS,)
        self.tally.tasks += 1
        self._heads.update(
            f"{head.task_id.hex} {head.length} {head.entry_hash.hex()}\n".encode()
        )
        if head.length > self._place:
            yield self._gap(head.task_id, head.length)
        elif head.length < self._place:
            yield _wrong_head(
                head, f"The task knows {head.length} records, not {self._place}."
            )
        elif head.entry_hash not in self._last:
            yield _wrong_head(head, "The task names another last record.")
        self._task_id = None

    def _headless(self) -> Fault:
        fault = Fault(
            Wrong.HEAD_MISMATCH,
            self._task_id,
            None,
            None,
            "These records are of a task that has no row.",
        )
        self._task_id = None
        return fault


def _wrong_head(head: Head, detail: str) -> Fault:
    return Fault(Wrong.HEAD_MISMATCH, head.task_id, head.length, None, detail)


def _fault(wrong: Wrong, entry: AuditEntry, detail: str) -> Fault:
    return Fault(wrong, entry.task_id, entry.sequence, entry.id, detail)
