"""Rows as files that others open: CSV and JSON lines."""

import csv
import io
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from orbit.exact_json import encode

# A cell that begins so may be run as a formula; the mark itself is marked too, so that
# taking one mark off always gives the text back.
RISKY = tuple("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20'")
MARK = "'"


def cell(text: str) -> str:
    """The text as a cell that no spreadsheet runs."""
    return MARK + text if text.startswith(RISKY) else text


def comma_separated(
    rows: Iterable[Mapping[str, Any]], *, columns: tuple[str, ...]
) -> Iterator[str]:
    """CSV, a line at a time, with a head; what is None is an empty cell."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, quoting=csv.QUOTE_ALL, lineterminator="\r\n")
    writer.writerow(columns)
    yield buffer.getvalue()
    for row in rows:
        buffer.seek(0)
        buffer.truncate()
        told = ("" if row[name] is None else str(row[name]) for name in columns)
        writer.writerow([cell(text) for text in told])
        yield buffer.getvalue()


def json_lines(rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """One JSON object on each line."""
    for row in rows:
        yield encode(row).decode() + "\n"
