"""The kinds of refusal; no HTTP in them."""

from collections.abc import Mapping
from typing import ClassVar


class Refusal(Exception):
    """A request that Orbit declines, with a machine code and the next step.

    `message` is safe to show to the caller and says what to do. `field` names the
    offending input. `details` are further members of the error object, JSON-ready.
    """

    code: ClassVar[str] = "REFUSED"

    def __init__(
        self,
        message: str,
        *,
        field: str | None = None,
        details: Mapping[str, object] | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.field = field
        self.details = dict(details or {})


class NotFound(Refusal):
    """There is no such thing within the caller's reach."""

    code = "NOT_FOUND"


class Conflict(Refusal):
    """The present state of things forbids it."""

    code = "STATE_CONFLICT"


class Forbidden(Refusal):
    """The caller may not do this."""

    code = "PERMISSION_DENIED"


class Invalid(Refusal):
    """The input breaks a rule; nothing was touched."""

    code = "INVALID_ARGUMENT"


class TooMany(Refusal):
    """A limit is reached; `retry_after_ms` in `details` says when to ask again."""

    code = "TOO_MANY"


class Unavailable(Refusal):
    """A part Orbit needs does not answer; the outcome may be committed."""

    code = "UNAVAILABLE"


class Unauthenticated(Refusal):
    """The credential is missing, malformed, unknown, expired or revoked."""

    code = "UNAUTHENTICATED"
