"""What can go wrong, one exception for each kind, with the next step in its fields."""

from typing import Any, ClassVar

import msgspec


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """What is known about a call that did not succeed."""

    code: str
    message: str
    status: int | None = None
    request_id: str | None = None
    outcome_unknown: bool = False
    details: dict[str, Any] = {}


class OrbitError(Exception):
    """A call that did not succeed.

    `outcome_unknown` is True when a write may have been committed all the same:
    keep the same key and content and ask again; never take a new key.
    `request_id` names the call in the server's log; None when no answer came.
    """

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.problem = problem

    @property
    def code(self) -> str:
        return self.problem.code

    @property
    def message(self) -> str:
        return self.problem.message

    @property
    def status(self) -> int | None:
        return self.problem.status

    @property
    def request_id(self) -> str | None:
        return self.problem.request_id

    @property
    def outcome_unknown(self) -> bool:
        return self.problem.outcome_unknown

    @property
    def details(self) -> dict[str, Any]:
        """Every further member of the server's error, numbers exact."""
        return self.problem.details

    def __str__(self) -> str:
        place = f" [request {self.request_id}]" if self.request_id else ""
        doubt = " The outcome is unknown." if self.outcome_unknown else ""
        return f"{self.code}: {self.message}{doubt}{place}"

    def _text(self, member: str) -> str | None:
        value = self.problem.details.get(member)
        return value if isinstance(value, str) else None

    def _number(self, member: str) -> int | None:
        value = self.problem.details.get(member)
        return value if isinstance(value, int) else None


class NotSent(OrbitError):
    """No connection could be made: the request did not leave, nothing happened."""


class AnswerLost(OrbitError):
    """The request left and no answer came back."""


class UnreadableAnswer(OrbitError):
    """An answer that is not Orbit's, such as the error page of a proxy."""


class Refused(OrbitError):
    """The server's own answer; also the class of codes this version does not know."""


class InvalidArgument(Refused):
    """Correct the field; nothing was touched."""

    @property
    def field(self) -> str | None:
        return self._text("field")


class PayloadTooLarge(Refused):
    """The body is over the server's limit; sending it again cannot help."""


class UnsupportedMediaType(Refused):
    """The server did not take the body as JSON."""


class Unauthenticated(Refused):
    """The token is unknown, expired or revoked, or its application is disabled."""


class PermissionDenied(Refused):
    """The token lacks the permission."""


class ReviewNotAllowed(Refused):
    """The queue wants another person for this review."""

    @property
    def reason(self) -> str | None:
        """SUBMITTER or PROPOSER: what you are of this task."""
        return self._text("reason")


class NotFound(Refused):
    """No such thing for this token's namespace and queues."""


class StateConflict(Refused):
    """The task is not in a state that allows this; its present one is told."""

    @property
    def reason(self) -> str | None:
        """STATE, REVISION, OWNER, GATE, LEASE, DOSSIER_CHANGED and the like."""
        return self._text("reason")

    @property
    def state(self) -> str | None:
        return self._text("state")

    @property
    def revision(self) -> str | None:
        return self._text("revision")

    @property
    def audit_id(self) -> str | None:
        return self._text("audit_id")

    @property
    def successor_task_id(self) -> str | None:
        return self._text("successor_task_id")

    @property
    def dossier_digest(self) -> str | None:
        """The present dossier's, where the one that was sent is another's."""
        return self._text("dossier_digest")

    @property
    def new_evidence(self) -> list[dict[str, Any]]:
        """What arrived since the dossier that was sent: id, attempt, kind and time."""
        found = self.problem.details.get("new_evidence")
        return found if isinstance(found, list) else []


class IdempotencyConflict(Refused):
    """The key was used with other content: compare with the request you kept."""


class TooMany(Refused):
    """Back-pressure: ask again with the same key after `retry_after_ms`."""

    @property
    def retry_after_ms(self) -> int | None:
        return self._number("retry_after_ms")


class QueueFull(TooMany):
    """The queue holds as many unfinished tasks as it may."""


class ApplicationFull(TooMany):
    """The application holds as many unfinished tasks as it may."""


class Unavailable(Refused):
    """The server cannot say now; a write may be committed."""

    @property
    def retry_after_ms(self) -> int | None:
        return self._number("retry_after_ms")


class Internal(Refused):
    """A fault of the server; a write may be committed."""


class Refusals:
    """Which class a refusal of the server becomes."""

    by_code: ClassVar[dict[str, type[Refused]]] = {
        "INVALID_ARGUMENT": InvalidArgument,
        "BODY_TOO_LARGE": PayloadTooLarge,
        "UNSUPPORTED_MEDIA_TYPE": UnsupportedMediaType,
        "UNAUTHENTICATED": Unauthenticated,
        "PERMISSION_DENIED": PermissionDenied,
        "REVIEW_NOT_ALLOWED": ReviewNotAllowed,
        "NOT_FOUND": NotFound,
        "STATE_CONFLICT": StateConflict,
        "IDEMPOTENCY_CONFLICT": IdempotencyConflict,
        "QUEUE_FULL": QueueFull,
        "APPLICATION_FULL": ApplicationFull,
        "UNAVAILABLE": Unavailable,
        "INTERNAL": Internal,
    }
    by_status: ClassVar[dict[int, type[Refused]]] = {
        400: InvalidArgument,
        401: Unauthenticated,
        403: PermissionDenied,
        404: NotFound,
        413: PayloadTooLarge,
        415: UnsupportedMediaType,
        429: TooMany,
        500: Internal,
        503: Unavailable,
    }


def refusal(problem: Problem) -> Refused:
    """The exception for the server's error, by code, else by status."""
    kind = Refusals.by_code.get(problem.code)
    if kind is None:
        kind = Refusals.by_status.get(problem.status or 0, Refused)
    return kind(problem)
