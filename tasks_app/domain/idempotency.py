"""Keys and contents of idempotent writes; only their digests are kept."""

import hashlib
import re
from dataclasses import dataclass

from tasks_app.domain.errors import InvalidField

KEY = re.compile(r"[A-Za-z0-9._:\-]{1,128}", re.ASCII)
KEY_FIELD = "Idempotency-Key"


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """The SHA-256 of a key and of the canonical content it came with."""

    key_digest: bytes
    content_digest: bytes


def identify(*, key: str, content: bytes, field: str = KEY_FIELD) -> Identity:
    """The identity of a write, or Invalid when the key breaks the syntax.

    `content` is the canonical JSON of the body: white space and the order of members
    do not count.
    """
    if not KEY.fullmatch(key):
        raise InvalidField(
            field, "Send 1 to 128 letters, digits or the characters . _ : - as the key."
        )
    return Identity(
        key_digest=hashlib.sha256(key.encode()).digest(),
        content_digest=hashlib.sha256(content).digest(),
    )
