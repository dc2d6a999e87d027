"""Identifiers: time-ordered UUIDs, written as 32 lower-case hex."""

import re
from uuid import UUID, uuid4

import uuid_utils
import uuid_utils.compat

HEX32 = re.compile(r"[0-9a-f]{32}", re.ASCII)


def new_id() -> UUID:
    """A new time-ordered identifier (UUID version 7)."""
    return uuid_utils.compat.uuid7()


def new_hex_id() -> str:
    """A new time-ordered identifier in its written form, for rows made in bulk."""
    return uuid_utils.uuid7().hex


def new_request_id() -> str:
    """A new random request identifier, 32 lower-case hex."""
    return uuid4().hex


def parse_id(text: str) -> UUID | None:
    """The identifier that `text` writes as 32 lower-case hex, or None."""
    return UUID(text) if HEX32.fullmatch(text) else None
