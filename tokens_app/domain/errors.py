"""What the token machinery refuses, each with its code."""

from orbit.errors import Conflict, Forbidden, Invalid, NotFound, Unauthenticated


class TokenRejected(Unauthenticated):
    """No valid token was presented.

    The words are the same for every malformed, unknown or wrong token; only the holder
    of the right secret learns more, from `details["reason"]`.
    """

    MESSAGE = (
        "A valid access token is required; send it as `Authorization: Bearer <token>`."
    )

    def __init__(self, *, reason: str | None = None) -> None:
        super().__init__(self.MESSAGE, details={"reason": reason} if reason else None)


class TokenInvalid(Invalid):
    """The wanted token breaks a rule; `field` names it."""


class TokenNotFound(NotFound):
    """There is no such token."""


class TokenNotActive(Conflict):
    """The token is revoked or expired, and stays so."""


class TokenAlreadyRotated(Conflict):
    """Somebody rotated the token since the caller looked at it."""


class TokenAlreadyIssued(Conflict):
    """The form was sent before; its token is named in the details, not its secret."""


class TokenChanged(Conflict):
    """Somebody changed the token since the caller looked at it."""


class RangeNotGrantable(Forbidden):
    """The granting user may not hand on any of this; `field` names the part."""
