"""What the maker of a token or of a new secret receives, once."""

from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class IssuedToken:
    """A token with its plain text, which is kept nowhere: show it once and drop it."""

    token_id: UUID
    key_id: str
    plaintext: str = field(repr=False)
    expires_at: datetime
