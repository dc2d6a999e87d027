"""What the end of a handler means: the report that it deserves."""

import traceback
from dataclasses import dataclass
from pathlib import Path

from openapi_app.domain.handlers import (
    Cancelled,
    Context,
    Handler,
    OutcomeUnknown,
    RetryableError,
    Stopped,
    find_runnable,
)
from openapi_app.workers.interruption import Interruption
from orbit.errors import Invalid
from orbit.exact_json import check, encode
from tasks_app.public import Assignment, Failure, Report, ReportKind

MAX_CODE = 100
MAX_MESSAGE = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """How a handler ended."""

    kind: ReportKind
    result: str | None = None
    failure: Failure | None = None
    is_retryable: bool = False

    def report(self, assignment: Assignment) -> Report:
        """The verdict as the engine takes it."""
        return Report(
            attempt_id=assignment.attempt_id,
            lease_token=assignment.lease_token,
            kind=self.kind,
            result=self.result,
            failure=self.failure,
            is_retryable=self.is_retryable,
        )


def conclude(
    assignment: Assignment, *, context: Context, interruption: Interruption
) -> Verdict:
    """Run the handler to its end, whatever that is.

    An exception is a known failure; a handler that may be replayed is tried again
    after it, any other only after RetryableError. One that was stopped in the middle
    leaves a doubt, which a handler that may be replayed resolves by running again.
    """
    task = assignment.task
    is_replayable = task.recovery_safety == "REPLAY_SAFE"
    has_attempts_left = assignment.attempt_number < task.max_attempts
    handler = find_runnable(task.handler)
    if handler is None or handler.version != task.handler_version:
        return _not_started("HANDLER_UNKNOWN", "This worker has no such handler.")
    try:
        return _run(handler, context, interruption)
    except Stopped as error:
        return _stopped(error, may_repeat=is_replayable and has_attempts_left)
    except Exception as error:  # noqa: BLE001 - every end of a handler is reported
        return _raised(error, context, is_replayable=is_replayable)
    except BaseException as error:  # noqa: BLE001 - time is up, or the worker ends
        return _stopped(error, may_repeat=is_replayable and has_attempts_left)


def too_large(refusal: Invalid) -> Verdict:
    """The engine did not take the result."""
    return Verdict(
        kind=ReportKind.FAIL,
        failure=Failure(code="RESULT_TOO_LARGE", message=str(refusal)[:MAX_MESSAGE]),
    )


def described(error: BaseException) -> Failure:
    """The exception's class, message and place, cut to what the engine takes."""
    message = str(error).replace("\0", "")
    # A lone surrogate has no UTF-8 form, so the database would refuse it.
    printable = message.encode("utf-8", "replace").decode()[: MAX_MESSAGE - 200]
    return Failure(
        code=type(error).__name__[:MAX_CODE], message=f"{printable}{_place(error)}"
    )


def _run(handler: Handler, context: Context, interruption: Interruption) -> Verdict:
    try:
        parameters = handler.read(context.raw_parameters)
    except Invalid as refusal:
        return _not_started("PARAMETERS_INVALID", f"{refusal.field}: {refusal}")
    with interruption:
        result = handler.run(context, parameters)
    try:
        text = encode(result)
        check(text)
    except (TypeError, ValueError, NotImplementedError, Invalid) as error:
        failure = Failure(code="RESULT_NOT_JSON", message=described(error).message)
        return Verdict(kind=ReportKind.FAIL, failure=failure)
    return Verdict(kind=ReportKind.SUCCEED, result=text.decode())


def _not_started(code: str, message: str) -> Verdict:
    return Verdict(
        kind=ReportKind.FAIL,
        failure=Failure(code=code, message=message[:MAX_MESSAGE]),
        is_retryable=True,
    )


def _raised(error: Exception, context: Context, *, is_replayable: bool) -> Verdict:
    if isinstance(error, Cancelled) and context.cancel_requested.is_set():
        return Verdict(kind=ReportKind.CANCELLED)
    if isinstance(error, OutcomeUnknown):
        return Verdict(kind=ReportKind.UNKNOWN, failure=described(error))
    is_known_harmless = isinstance(error, RetryableError)
    return Verdict(
        kind=ReportKind.FAIL,
        failure=described(error),
        is_retryable=is_replayable or is_known_harmless,
    )


def _stopped(error: BaseException, *, may_repeat: bool) -> Verdict:
    failure = Failure(
        code="HANDLER_STOPPED",
        message=f"The handler was stopped before its end.{_place(error)}",
    )
    if may_repeat:
        return Verdict(kind=ReportKind.FAIL, failure=failure, is_retryable=True)
    return Verdict(kind=ReportKind.UNKNOWN, failure=failure)


def _place(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    if not frames:
        return ""
    last = frames[-1]
    return f" ({Path(last.filename).name}:{last.lineno}, {last.name})"[:200]
