"""What the open job API refuses; each code is the `message` of its answer."""

from orbit.errors import Conflict, Forbidden, Invalid, TooMany, Unavailable


class InsufficientScope(Forbidden):
    """The token lacks the scope."""

    code = "insufficient_scope"

    def __init__(self, scope: str) -> None:
        super().__init__(
            f"This token lacks the scope {scope}. Ask its issuer for one that has it."
        )


class ResourceNotPermitted(Forbidden):
    """The job is outside the token's range, or there is none: told the same."""

    code = "resource_not_permitted"

    def __init__(self) -> None:
        super().__init__("This token's range does not include the job.")


class UnknownField(Invalid):
    """A member that a trigger does not take."""

    code = "unknown_field"

    def __init__(self, field: str) -> None:
        super().__init__(
            f"`{field}` cannot be set: nothing of a job can be overridden. Send an "
            "empty body or {}.",
            field=field,
        )


class KeyMissing(Invalid):
    """A trigger without an Idempotency-Key."""

    code = "idempotency_key_missing"

    def __init__(self) -> None:
        super().__init__(
            "Send an Idempotency-Key header, and the same one when you repeat the call."
        )


class KeyInvalid(Invalid):
    """An Idempotency-Key that breaks the syntax."""

    code = "idempotency_key_invalid"


class KeyReused(Conflict):
    """The key stands for a call with other content."""

    code = "idempotency_key_reused"

    def __init__(self) -> None:
        super().__init__(
            "This Idempotency-Key was used with other content. Use a new key for a new "
            "intention."
        )


class KeyInProgress(Conflict):
    """Another call with this key is still being worked on."""

    code = "idempotency_in_progress"

    def __init__(self) -> None:
        super().__init__(
            "A call with this Idempotency-Key is in progress. Repeat it with the same "
            "key.",
            details={"retry_after_ms": 1_000},
        )


class RateLimited(TooMany):
    """The calls of this minute are used up."""

    code = "rate_limited"

    def __init__(self, *, retry_after_ms: int) -> None:
        super().__init__(
            "Too many calls. Wait as long as Retry-After says.",
            details={"retry_after_ms": retry_after_ms},
        )


class TriggerUnavailable(Unavailable):
    """Without Redis no trigger is served: nothing was started."""

    code = "trigger_unavailable"

    def __init__(self) -> None:
        super().__init__(
            "Triggers cannot be accepted at the moment. Nothing was started; repeat "
            "the call with the same Idempotency-Key.",
            details={"retry_after_ms": 1_000},
        )


class JobCannotRun(Conflict):
    """The job's queue is gone or its application is disabled; nothing was started."""

    code = "job_not_triggerable"

    def __init__(self) -> None:
        super().__init__("The job has nowhere to run. Ask its owner.")
