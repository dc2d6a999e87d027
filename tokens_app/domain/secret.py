"""The token itself: its format, its digest, and the comparison.

`fta_<key id, 16>_<secret, 43>`. Both random parts are URL-safe base64, whose alphabet
contains the separator: the text is read by fixed lengths, never split.
"""

import hmac
import re
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from tokens_app.domain.scope import Audience

PREFIXES: Mapping[str, str] = {Audience.TASKS: "fta", Audience.OPEN_JOBS: "fja"}
KEY_ID_LENGTH = 16
TOKEN_LENGTH = 3 + 1 + KEY_ID_LENGTH + 1 + 43
DIGEST_LENGTH = 32

_HEADER = {
    audience: re.compile(
        rf"(?i:bearer) ({prefix}_([A-Za-z0-9]{{16}})_[A-Za-z0-9_-]{{43}})", re.ASCII
    )
    for audience, prefix in PREFIXES.items()
}
_HEADER_LENGTH = len("Bearer ") + TOKEN_LENGTH
# Stands in for every digest there is not; nobody knows a token that has it.
_NO_DIGEST = secrets.token_bytes(DIGEST_LENGTH)


@dataclass(frozen=True, slots=True)
class Token:
    """A well-formed token in plain text; whether it is anybody's is unknown."""

    key_id: str
    plaintext: str = field(repr=False)

    @property
    def display_prefix(self) -> str:
        """The part that people may see: audience and key id, nothing secret."""
        return self.plaintext[: 4 + KEY_ID_LENGTH]


def new_token(audience: str) -> Token:
    """A token with a new key id and a new secret, both from the system's generator."""
    key_id = secrets.token_urlsafe(12)
    while "-" in key_id or "_" in key_id:
        key_id = secrets.token_urlsafe(12)
    return new_secret(audience=audience, key_id=key_id)


def new_secret(*, audience: str, key_id: str) -> Token:
    """A token with a new secret for a key id that stays."""
    return Token(key_id, f"{PREFIXES[audience]}_{key_id}_{secrets.token_urlsafe(32)}")


def read_authorization(header: str | None, *, audience: str) -> Token | None:
    """The token of an `Authorization: Bearer …` header, or None if it is not that.

    Length and alphabet are settled here, before any hashing or SQL.
    """
    if header is None or len(header) != _HEADER_LENGTH:
        return None
    match = _HEADER[audience].fullmatch(header)
    return Token(match[2], match[1]) if match else None


def digest_of(plaintext: str, *, pepper: bytes) -> bytes:
    """The HMAC-SHA256 of the whole token, 32 bytes: what is kept in its place."""
    return hmac.digest(pepper, plaintext.encode("ascii"), "sha256")


def digests_of(plaintext: str, *, peppers: Mapping[str, bytes]) -> dict[str, bytes]:
    """One digest for each live pepper, so that the work never depends on the row."""
    return {
        pepper_id: digest_of(plaintext, pepper=pepper)
        for pepper_id, pepper in peppers.items()
    }


def matches_any(
    presented: Mapping[str, bytes],
    *,
    stored: Iterable[tuple[str | None, bytes | None]],
) -> bool:
    """Whether a presented digest equals a stored (pepper id, digest) pair.

    Every pair is compared in constant time; one that is missing, or whose pepper is
    retired, is compared with a digest that matches nothing.
    """
    matched = False
    for pepper_id, digest in stored:
        candidate = presented.get(pepper_id or "", _NO_DIGEST)
        same = hmac.compare_digest(candidate, digest or bytes(DIGEST_LENGTH))
        matched |= same and digest is not None
    return matched
