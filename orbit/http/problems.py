"""Every exception becomes one refusal, one status and one body, here."""

import sys
from collections.abc import Callable, Mapping
from typing import Any

import structlog
from django.core.exceptions import (
    PermissionDenied,
    RequestDataTooBig,
    SuspiciousOperation,
)
from django.http import Http404, HttpRequest, HttpResponse
from django.http.request import UnreadablePostError
from django.views import defaults
from rest_framework import exceptions as drf
from rest_framework.request import Request
from rest_framework.response import Response

from orbit import errors
from orbit.http.database_faults import refusal_of_database
from orbit.http.envelope import problem_body
from orbit.http.exact_json import MEDIA_TYPE, BodyTooLarge, encode

log = structlog.get_logger("orbit.problems")

Shape = Callable[[HttpRequest | Request, errors.Refusal, int], dict[str, object]]


class NotAllowed(errors.Refusal):
    """The path has no such method; Allow names those it has."""

    code = "METHOD_NOT_ALLOWED"


class TooLarge(errors.Refusal):
    """The body is over the limit."""

    code = "BODY_TOO_LARGE"


class NotJSON(errors.Refusal):
    """The body is not declared to be JSON."""

    code = "UNSUPPORTED_MEDIA_TYPE"


class Internal(errors.Refusal):
    """Orbit's own fault; its traceback is in the log under the request's id."""

    code = "INTERNAL"


STATUS: dict[type[errors.Refusal], int] = {
    errors.Invalid: 400,
    errors.Unauthenticated: 401,
    errors.Forbidden: 403,
    errors.NotFound: 404,
    NotAllowed: 405,
    errors.Conflict: 409,
    TooLarge: 413,
    NotJSON: 415,
    errors.TooMany: 429,
    Internal: 500,
    errors.Unavailable: 503,
}
KINDS = {status: kind for kind, status in STATUS.items()}

NO_SUCH_PATH = "There is nothing at this path. Check it and the ids in it."

# What each exception that is not a refusal means to the caller.
PLAIN: tuple[tuple[type[Exception], type[errors.Refusal], str], ...] = (
    (Http404, errors.NotFound, NO_SUCH_PATH),
    (PermissionDenied, errors.Forbidden, "You may not do this."),
    (RequestDataTooBig, TooLarge, str(BodyTooLarge.default_detail)),
    (SuspiciousOperation, errors.Invalid, "The request is malformed. Correct it."),
    (UnreadablePostError, errors.Invalid, "The body broke off. Send it again."),
)

_shapes: dict[str, Shape] = {"/v1": problem_body, "/openapi": problem_body}


def answer_problems(*, prefix: str, shape: Shape) -> None:
    """Let `shape` write the body of every problem at or under `prefix`.

    An app with an envelope of its own calls this in its AppConfig.
    """
    _shapes[prefix] = shape


def status_of(refusal: errors.Refusal) -> int:
    """The HTTP status of a refusal, by its kind."""
    return next(STATUS[kind] for kind in type(refusal).__mro__ if kind in STATUS)


def refusal_of(exc: BaseException, *, reads_only: bool) -> errors.Refusal:
    """What `exc` means to the caller; Internal if it was not foreseen."""
    if isinstance(exc, errors.Refusal):
        return exc
    if isinstance(exc, drf.APIException):
        return _refusal_of_drf(exc)
    for expected, kind, message in PLAIN:
        if isinstance(exc, expected):
            return kind(message)
    known = refusal_of_database(exc, reads_only=reads_only)
    return known or Internal("Orbit failed. Report the request_id to its operator.")


def _refusal_of_drf(exc: drf.APIException) -> errors.Refusal:
    if isinstance(exc, drf.NotAuthenticated | drf.AuthenticationFailed):
        return errors.Unauthenticated(str(exc.detail))
    if isinstance(exc, drf.Throttled):
        wait = int((getattr(exc, "wait", None) or 1) * 1000)
        return errors.TooMany(str(exc.detail), details={"retry_after_ms": wait})
    if isinstance(exc, drf.ValidationError):
        return _refusal_of_serializer(exc.detail)
    return KINDS.get(exc.status_code, Internal)(str(exc.detail))


def _refusal_of_serializer(detail: object) -> errors.Refusal:
    """The first error of a serializer's nested dictionaries and lists."""
    path: list[str] = []
    while isinstance(detail, dict | list) and detail:
        if isinstance(detail, dict):
            key, detail = next(iter(detail.items()))
            path.append(str(key))
        else:
            detail = detail[0]
    return errors.Invalid(str(detail), field=".".join(path) or None)


def handle(exc: Exception, context: Mapping[str, Any]) -> Response:
    """DRF's exception handler: the answer to any exception of a view."""
    request: Request = context["request"]
    refusal = _understood(exc, request)
    status = status_of(refusal)
    if isinstance(refusal, NotAllowed):
        _leave_out_options(context["view"])
    shape = _shape_at(request.path) or problem_body
    return Response(
        shape(request, refusal, status), status=status, headers=_headers(refusal)
    )


def _understood(exc: BaseException, request: HttpRequest | Request) -> errors.Refusal:
    """The refusal of `exc`, logged where an operator has to know."""
    refusal = refusal_of(exc, reads_only=request.method in {"GET", "HEAD"})
    if isinstance(refusal, Internal):
        log.error("unforeseen exception", exc_info=exc)
    elif isinstance(refusal, errors.Unavailable) and refusal is not exc:
        log.warning("database unavailable", fault=str(exc).strip())
    return refusal


def _headers(refusal: errors.Refusal) -> dict[str, str]:
    headers = {}
    wait = refusal.details.get("retry_after_ms")
    if isinstance(wait, int):
        headers["Retry-After"] = str(max(1, -(-wait // 1000)))
    if isinstance(refusal, errors.Unauthenticated):
        headers["WWW-Authenticate"] = "Bearer"
    return headers


def _leave_out_options(view: Any) -> None:  # noqa: ANN401 - any DRF view
    # Without metadata OPTIONS answers 405, so Allow must not promise it.
    if view.metadata_class is None:
        methods = [method for method in view.allowed_methods if method != "OPTIONS"]
        view.headers["Allow"] = ", ".join(methods)


def _shape_at(path: str) -> Shape | None:
    for prefix, shape in _shapes.items():
        if path == prefix or path.startswith(f"{prefix}/"):
            return shape
    return None


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Django's handler400: JSON under an API's prefix, else a page."""
    return _as_json(request, exception) or defaults.bad_request(request, exception)


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Django's handler403: JSON under an API's prefix, else a page."""
    return _as_json(request, exception) or defaults.permission_denied(
        request, exception
    )


def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Django's handler404: JSON under an API's prefix, else a page."""
    return _as_json(request, exception) or defaults.page_not_found(request, exception)


def server_error(request: HttpRequest) -> HttpResponse:
    """Django's handler500, also for what fails outside a view; 503 or 500."""
    exception = sys.exc_info()[1] or RuntimeError("handler500 without an exception")
    answer = _as_json(request, exception)
    if answer is None:
        answer = defaults.server_error(request)
        answer.status_code = status_of(_understood(exception, request))
    return answer


def _as_json(request: HttpRequest, exc: BaseException) -> HttpResponse | None:
    shape = _shape_at(request.path)
    if shape is None:
        return None
    refusal = _understood(exc, request)
    status = status_of(refusal)
    return HttpResponse(
        encode(shape(request, refusal, status)),
        content_type=MEDIA_TYPE,
        status=status,
        headers=_headers(refusal),
    )
