"""What a key is, and how long it stands for one execution."""

import hashlib
import re
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from openapi_app.domain.refusals import KeyInvalid, KeyMissing

LIFETIME = timedelta(hours=24)
KEY = re.compile(r"[A-Za-z0-9._:\-]{8,128}", re.ASCII)
QUOTED = re.compile(r"\s*(['\"]).*\1\s*", re.DOTALL)
# A trigger has no content yet; whatever it will have, `{}` is what it has today.
NO_CONTENT = hashlib.sha256(b"{}").digest()


@dataclass(frozen=True, slots=True, kw_only=True)
class TriggerIdentity:
    """What makes two triggers the same: token row, job, key and content.

    Of key and content only the SHA-256 is kept. The token's row outlives its secrets.
    """

    token_id: UUID
    job_id: UUID
    key_digest: bytes
    content_digest: bytes = NO_CONTENT

    @property
    def lock_digest(self) -> str:
        """One digest for token, job and key: the name of their lock."""
        parts = (self.token_id.bytes, self.job_id.bytes, self.key_digest)
        return hashlib.sha256(b"".join(parts)).hexdigest()


def read_key(header: str | None) -> bytes:
    """The SHA-256 of the one Idempotency-Key; raises KeyMissing or KeyInvalid."""
    if not header:
        raise KeyMissing
    if KEY.fullmatch(header):
        return hashlib.sha256(header.encode()).digest()
    if "," in header:
        # The server joins repeated headers with a comma, which no key contains.
        raise KeyInvalid("Send exactly one Idempotency-Key header, without a comma.")
    if QUOTED.fullmatch(header):
        raise KeyInvalid("Send the Idempotency-Key without quotation marks.")
    raise KeyInvalid(
        "The Idempotency-Key must be 8 to 128 letters, digits or the characters . _ : -"
    )
