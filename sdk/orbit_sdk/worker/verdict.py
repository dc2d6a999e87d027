"""What a handler's end means: the exceptions it may raise and the report they make."""

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

from orbit_sdk.answers import Assignment
from orbit_sdk.exact import Json, encode
from orbit_sdk.requests import AttemptError, Report

if TYPE_CHECKING:
    from orbit_sdk.worker.context import Context

MAX_RESULT_BYTES = 256 * 1024
_MAX_CODE = 100
_MAX_MESSAGE = 2_000

logger = logging.getLogger("orbit_sdk.worker")


class RetryableError(Exception):
    """Raised by a handler: it failed, nothing was done, another attempt may be made."""


class OutcomeUnknown(Exception):
    """Raised by a handler: it does not know what it did; people must look."""


class Cancelled(Exception):
    """Raised by a handler that stopped because a cancel was requested."""


class LeaseLost(Exception):
    """Raised by `Context.check`: the attempt must stop where it is."""


def conclude(
    handler: "Callable[[Context], object]", context: "Context", assignment: Assignment
) -> Report:
    """Run the handler and make the report that its end deserves."""
    try:
        return _success(assignment, handler(context))
    except Cancelled as error:
        return _cancelled(assignment, error, asked=context.cancel_requested.is_set())
    except (OutcomeUnknown, LeaseLost) as error:
        return _doubt(assignment, error)
    except RetryableError as error:
        return failure(assignment, described(error), retryable=True)
    except Exception as error:
        logger.exception("The handler failed, task %s", assignment.task.id)
        return failure(assignment, described(error), retryable=False)
    except BaseException as error:
        # Someone wanted to end the process or the thread: no verdict on the effect.
        logger.exception("The handler was torn down, task %s", assignment.task.id)
        return _doubt(assignment, error)


def failure(assignment: Assignment, error: AttemptError, *, retryable: bool) -> Report:
    """A report that the attempt failed."""
    return Report.fail(
        attempt_id=assignment.attempt_id,
        lease_token=assignment.lease_token,
        error=error,
        retryable=retryable,
    )


def not_started(assignment: Assignment, message: str) -> Report:
    """A report that no handler ever ran, which this worker knows for sure."""
    error = AttemptError(code="NOT_STARTED", message=message)
    return failure(assignment, error, retryable=True)


def described(error: BaseException) -> AttemptError:
    """The exception's class and message, cut to what the server takes."""
    message = str(error).replace("\0", "")
    # A lone surrogate has no UTF-8 form and would have the report refused.
    printable = message.encode("utf-8", "replace").decode()
    return AttemptError(
        code=type(error).__name__[:_MAX_CODE], message=printable[:_MAX_MESSAGE]
    )


def _cancelled(assignment: Assignment, error: Cancelled, *, asked: bool) -> Report:
    if not asked:
        return failure(assignment, described(error), retryable=False)
    return Report.cancelled(
        attempt_id=assignment.attempt_id, lease_token=assignment.lease_token
    )


def _doubt(assignment: Assignment, error: BaseException) -> Report:
    return Report.unknown(
        attempt_id=assignment.attempt_id,
        lease_token=assignment.lease_token,
        error=described(error),
    )


def _success(assignment: Assignment, result: object) -> Report:
    try:
        text = encode(result)
    except (TypeError, ValueError) as error:
        refused = AttemptError(code="RESULT_NOT_JSON", message=described(error).message)
        return failure(assignment, refused, retryable=False)
    if len(text) > MAX_RESULT_BYTES:
        refused = AttemptError(
            code="RESULT_TOO_LARGE",
            message=f"{len(text)} bytes of at most {MAX_RESULT_BYTES}.",
        )
        return failure(assignment, refused, retryable=False)
    return Report.succeed(
        attempt_id=assignment.attempt_id,
        lease_token=assignment.lease_token,
        result=Json(text),
    )
