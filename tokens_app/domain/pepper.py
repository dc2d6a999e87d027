"""The peppers that key every digest: kept outside the database, several at a time."""

import functools
import re
from dataclasses import dataclass, field
from pathlib import Path

MIN_BYTES = 32
_PEPPER_ID = re.compile(r"[A-Za-z0-9_-]{1,32}", re.ASCII)


class PepperError(ValueError):
    """The peppers are missing or unfit; the message says what to set."""


@dataclass(frozen=True, slots=True)
class Peppers:
    """The live peppers by id; the current one keys every new digest."""

    current_id: str
    by_id: dict[str, bytes] = field(repr=False)

    @property
    def current(self) -> bytes:
        """The secret of the current pepper."""
        return self.by_id[self.current_id]


@functools.lru_cache(maxsize=8)
def read_peppers(*, text: str, path: str, forbidden: str) -> Peppers:
    """The peppers written as `id:secret,id2:secret2`, or one a line in a file.

    The first is the current one. `forbidden` is a secret with another use, which none
    may equal. Raises PepperError; its message never repeats a secret.
    """
    if text and path:
        raise PepperError(
            "Set ORBIT_TOKEN_PEPPERS or ORBIT_TOKEN_PEPPERS_FILE, not both."
        )
    entries = re.split(r"[,\n]", _read(path) if path else text)
    pairs = [_read_entry(entry.strip()) for entry in entries if entry.strip()]
    if not pairs:
        raise PepperError(
            "Set ORBIT_TOKEN_PEPPERS to id:secret, the secret at least"
            f" {MIN_BYTES} random bytes (or name a file in ORBIT_TOKEN_PEPPERS_FILE)."
        )
    if forbidden.encode() in dict(pairs).values():
        raise PepperError("A token pepper must not be the SECRET_KEY; make another.")
    if len(dict(pairs)) != len(pairs):
        raise PepperError("Two token peppers have the same id; give each its own.")
    return Peppers(current_id=pairs[0][0], by_id=dict(pairs))


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise PepperError(
            "The file in ORBIT_TOKEN_PEPPERS_FILE cannot be read"
            f" ({type(error).__name__})."
        ) from None


def _read_entry(entry: str) -> tuple[str, bytes]:
    pepper_id, separator, secret = entry.partition(":")
    if not separator or not _PEPPER_ID.fullmatch(pepper_id):
        raise PepperError(
            "Write each token pepper as id:secret, the id 1 to 32 of A-Z a-z 0-9 _ -."
        )
    if len(secret.encode()) < MIN_BYTES:
        raise PepperError(
            f"The token pepper {pepper_id!r} must be at least {MIN_BYTES} random bytes."
        )
    return pepper_id, secret.encode()
