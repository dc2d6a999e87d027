"""How a statement is sent: rows in as one JSON text, rows out as tuples."""

from collections.abc import Mapping
from typing import Any

import msgspec
from django.db import connection
from psycopg.pq import Format

_ENCODER = msgspec.json.Encoder()


def rows(sql: str, parameters: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    """All rows that the statement answers."""
    with connection.cursor() as cursor:
        # Binary answers are read without a detour through text and Python.
        cursor.cursor.format = Format.BINARY
        cursor.execute(sql, parameters)
        answer: list[tuple[Any, ...]] = cursor.fetchall()
    return answer


def compact(sql: str) -> str:
    """The statement without comments and needless white space.

    The driver keeps only the parse of statements up to 4096 characters.
    """
    lines = (line.partition("--")[0].strip() for line in sql.splitlines())
    return " ".join(line for line in lines if line)


def as_json(value: object) -> str:
    """The JSON text of a list of flat objects, for json_to_recordset."""
    return _ENCODER.encode(value).decode()
