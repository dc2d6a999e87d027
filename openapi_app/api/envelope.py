"""The envelope of the open job API: every answer has code, message, data and time."""

import re
import time
from collections.abc import Mapping

from django.http import HttpRequest
from rest_framework.request import Request
from rest_framework.response import Response

from orbit import errors
from orbit.http import problems
from orbit.http.request_id import request_id_of

OK = "ok"

# Codes of the ground and of other apps, by kind; the open API's own are lower-case.
MESSAGES: Mapping[type[errors.Refusal], str] = {
    errors.Invalid: "invalid_request",
    errors.Unauthenticated: "invalid_token",
    errors.Forbidden: "forbidden",
    errors.NotFound: "not_found",
    problems.NotAllowed: "method_not_allowed",
    errors.Conflict: "conflict",
    problems.TooLarge: "body_too_large",
    problems.NotJSON: "unsupported_media_type",
    errors.TooMany: "rate_limited",
    problems.Internal: "internal_error",
    errors.Unavailable: "service_unavailable",
}
# The same call, unchanged, does no harm and may succeed later.
SAFE_TO_REPEAT = {
    "idempotency_in_progress",
    "internal_error",
    "job_not_triggerable",
    "rate_limited",
    "service_unavailable",
    "trigger_unavailable",
}
NEEDS_ANOTHER_KEY = {
    "idempotency_key_invalid",
    "idempotency_key_missing",
    "idempotency_key_reused",
}
# After these a trigger that had begun may have been committed.
OUTCOME_UNKNOWN = {"internal_error", "service_unavailable"}

TRIGGER_PATH = re.compile(r"/openapi/v1/jobs/[^/]+/executions")
BEGAN = "orbit.trigger_began"


def answer(
    request: Request,
    data: object,
    *,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """The envelope of a success."""
    body = _envelope(request, code=status, message=OK, data=data)
    return Response(body, status=status, headers=dict(headers) if headers else None)


def problem_body(
    request: HttpRequest | Request, refusal: errors.Refusal, status: int
) -> dict[str, object]:
    """The envelope of any refusal: what it is, and whether and how to repeat."""
    message = message_of(request, refusal)
    body = _envelope(request, code=status, message=message, data=None)
    body["detail"] = refusal.message
    if refusal.field is not None:
        body["field"] = refusal.field
    body["retry"] = {
        "safe": message in SAFE_TO_REPEAT,
        "same_key": message not in NEEDS_ANOTHER_KEY,
        "after_seconds": _after_seconds(refusal),
    }
    if request.method == "POST" and TRIGGER_PATH.fullmatch(request.path):
        is_unknown = message in OUTCOME_UNKNOWN and BEGAN in request.META
        body["execution_started"] = None if is_unknown else False
    return body


def message_of(request: HttpRequest | Request, refusal: errors.Refusal) -> str:
    """The machine code of a refusal in this API."""
    if isinstance(refusal, errors.Unauthenticated):
        if "HTTP_AUTHORIZATION" not in request.META:
            return "token_missing"
        return str(refusal.details.get("reason", "invalid_token"))
    if refusal.code.islower():
        return refusal.code
    return next(MESSAGES[kind] for kind in type(refusal).__mro__ if kind in MESSAGES)


def _envelope(
    request: HttpRequest | Request, *, code: int, message: str, data: object
) -> dict[str, object]:
    return {
        "code": code,
        "message": message,
        "data": data,
        # The process' clock: an answer has to be possible without the database.
        "timestamp": time.time_ns() // 1_000_000,
        "request_id": request_id_of(request),
    }


def _after_seconds(refusal: errors.Refusal) -> int | None:
    wait = refusal.details.get("retry_after_ms")
    return max(1, -(-wait // 1000)) if isinstance(wait, int) else None
