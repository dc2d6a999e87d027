"""Audit records as files, JSON lines or CSV, verified without a database.

A file begins with what was asked for and ends with the count of records and the digest
of all heads, so that a file that was cut off is known by that.
"""

import csv
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import IO, NamedTuple, Protocol
from uuid import UUID

import msgspec

from orbit.tables import MARK, RISKY
from tasks_app.domain.audit_chain import FORMAT, AuditEntry, moment
from tasks_app.domain.audit_verification import (
    Fault,
    Head,
    Link,
    SealedEntry,
    Tally,
    Verification,
    Wrong,
)

COLUMNS = (
    "format",
    "kind",
    "task_id",
    "sequence",
    "id",
    "namespace_id",
    "operation_id",
    "actor_id",
    "actor_kind",
    "action",
    "revision",
    "reason",
    "evidence_ref",
    "before",
    "after",
    "created_at",
    "approver_id",
    "approver_kind",
    "previous_hash",
    "entry_hash",
)
MAX_CELL = 64 * 1024 * 1024

Record = dict[str, str | None]


class UnreadableExport(Exception):
    """The file is not an export, or something in it cannot be read."""


class Begin(NamedTuple):
    """What the export was asked for."""

    since: datetime | None
    namespace_id: UUID | None


class End(NamedTuple):
    """What the export held when it was whole."""

    records: int
    digest: str


class Writer(Protocol):
    """Writes records to a file."""

    def __call__(self, record: Record) -> None:
        """Write one."""


def json_lines(file: IO[str]) -> Writer:
    """One JSON object on each line; what is null is left out."""

    def write(record: Record) -> None:
        there = {name: text for name, text in record.items() if text is not None}
        file.write(msgspec.json.encode(there).decode() + "\n")

    return write


def comma_separated(file: IO[str]) -> Writer:
    """CSV that a spreadsheet shows and never runs; an empty cell is null."""
    writer = csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator="\r\n")
    writer.writerow(COLUMNS)

    def write(record: Record) -> None:
        writer.writerow([_cell(record.get(name)) for name in COLUMNS])

    return write


def records_of_json(lines: Iterable[str]) -> Iterator[Record]:
    """The records of a file of JSON lines; raises UnreadableExport."""
    for number, line in enumerate(lines, start=1):
        try:
            yield msgspec.json.decode(line, type=Record)
        except msgspec.MsgspecError as error:
            raise UnreadableExport(f"line {number}: {error}") from error


def records_of_csv(lines: Iterable[str]) -> Iterator[Record]:
    """The records of a CSV file; raises UnreadableExport."""
    csv.field_size_limit(MAX_CELL)
    reader = csv.reader(lines, strict=True)
    try:
        if tuple(next(reader, ())) != COLUMNS:
            raise UnreadableExport("line 1: these are not the columns of an export")
        for cells in reader:
            if len(cells) != len(COLUMNS):
                raise UnreadableExport(f"line {reader.line_num}: cells are missing")
            yield dict(zip(COLUMNS, map(_text, cells), strict=True))
    except csv.Error as error:
        raise UnreadableExport(f"line {reader.line_num}: {error}") from error


def write_export(links: Iterable[Link], *, asked: Begin, write: Writer) -> Tally:
    """Write everything, from begin to end, as it is; answers what was seen."""
    verification = Verification(is_partial=asked.since is not None)
    write(_begin(asked))
    # Faults are counted and exported all the same: they are what an auditor looks for.
    for _ in verification.faults_of(_written(links, write)):
        pass
    tally = verification.tally
    write(_record("end", sequence=str(tally.records), entry_hash=tally.digest))
    return tally


class ExportVerification:
    """Verifies the records of an export: a pure function of the file."""

    def __init__(self) -> None:
        self.verification = Verification()
        self._end: End | None = None

    def faults_of(self, records: Iterable[Record]) -> Iterator[Fault]:
        """Each fault as it is found; raises UnreadableExport."""
        yield from self.verification.faults_of(self.links_of(records))
        tally = self.verification.tally
        if self._end is None:
            detail = "The file does not come to its end."
        elif self._end != (tally.records, tally.digest):
            detail = "The end of the file speaks of other records."
        else:
            return
        tally.faults += 1
        yield Fault(Wrong.INCOMPLETE, None, None, None, detail)

    def links_of(self, records: Iterable[Record]) -> Iterator[Link]:
        """What the file has, as a verification reads it."""
        number = 0
        for number, record in enumerate(records, start=1):
            try:
                link = self._read(record, number)
            except (KeyError, TypeError, ValueError, AttributeError) as error:
                raise UnreadableExport(f"record {number}: {error!r}") from error
            if link is not None:
                yield link
        if not number:
            raise UnreadableExport("the file is empty")

    def _read(self, record: Record, number: int) -> Link | None:
        kind = record["kind"]
        if record["format"] != FORMAT or (kind == "begin") != (number == 1):
            raise ValueError(f"this is not the form {FORMAT}")
        if self._end is not None:
            raise ValueError("something follows the end")
        match kind:
            case "begin":
                self.verification.is_partial = record.get("created_at") is not None
            case "entry":
                return _entry(record)
            case "head":
                return _head(record)
            case "end":
                self._end = End(
                    int(_given(record, "sequence")), _given(record, "entry_hash")
                )
            case _:
                raise ValueError(f"unknown kind {kind}")
        return None


def _written(links: Iterable[Link], write: Writer) -> Iterator[Link]:
    for link in links:
        if isinstance(link, Head):
            write(
                _record(
                    "head",
                    task_id=link.task_id.hex,
                    sequence=str(link.length),
                    entry_hash=link.entry_hash.hex(),
                )
            )
        else:
            write(_entry_record(link))
        yield link


def _record(kind: str, **members: str | None) -> Record:
    return {"format": FORMAT, "kind": kind, **members}


def _begin(asked: Begin) -> Record:
    return _record(
        "begin",
        created_at=moment(asked.since) if asked.since else None,
        namespace_id=asked.namespace_id.hex if asked.namespace_id else None,
    )


def _entry_record(link: SealedEntry) -> Record:
    entry = link.entry
    record = _record("entry", entry_hash=link.entry_hash.hex())
    for name, value in entry._asdict().items():
        match value:
            case UUID() | bytes():
                record[name] = value.hex if isinstance(value, UUID) else value.hex()
            case datetime():
                record[name] = moment(value)
            case _:
                record[name] = None if value is None else str(value)
    return record


def _entry(record: Record) -> SealedEntry:
    approver = record.get("approver_id")
    entry = AuditEntry(
        task_id=UUID(record["task_id"]),
        sequence=int(_given(record, "sequence")),
        id=UUID(record["id"]),
        namespace_id=UUID(record["namespace_id"]),
        operation_id=UUID(record["operation_id"]),
        actor_id=UUID(record["actor_id"]),
        actor_kind=_given(record, "actor_kind"),
        action=_given(record, "action"),
        revision=int(_given(record, "revision")),
        reason=record.get("reason"),
        evidence_ref=record.get("evidence_ref"),
        before=record.get("before"),
        after=_given(record, "after"),
        created_at=_moment(_given(record, "created_at")),
        approver_id=None if approver is None else UUID(approver),
        approver_kind=record.get("approver_kind"),
        previous_hash=bytes.fromhex(_given(record, "previous_hash")),
    )
    link = SealedEntry(entry, bytes.fromhex(_given(record, "entry_hash")))
    # Another writing of the same value would be read as if nothing were changed.
    if any(record.get(name) != text for name, text in _entry_record(link).items()):
        raise ValueError("a value is not written as exports write it")
    return link


def _head(record: Record) -> Head:
    return Head(
        UUID(record["task_id"]),
        int(_given(record, "sequence")),
        bytes.fromhex(_given(record, "entry_hash")),
    )


def _given(record: Record, name: str) -> str:
    text = record[name]
    if text is None:
        raise ValueError(f"{name} is missing")
    return text


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)


def _cell(text: str | None) -> str:
    if text is None:
        return ""
    return MARK + text if text == "" or text.startswith(RISKY) else text


def _text(cell: str) -> str | None:
    if not cell:
        return None
    return cell.removeprefix(MARK)
