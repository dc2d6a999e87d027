"""A new id for each request, and one log line when it is answered."""

import logging
import time
from collections.abc import Callable

import structlog
from django.http import HttpRequest, HttpResponse
from structlog.contextvars import bind_contextvars, clear_contextvars

from orbit.ids import new_request_id

log = structlog.get_logger("orbit.request")

Handler = Callable[[HttpRequest], HttpResponse]

ERROR_FROM = 500
WARNING_FROM = 400


class RequestIdMiddleware:
    """Sets `request.request_id` and X-Request-Id, and logs the request.

    The query string, the body and the headers are never logged. Fields that a view
    binds with structlog's contextvars are in its line.
    """

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """The answer of the inner layers, with its id."""
        started = time.perf_counter_ns()
        request_id = new_request_id()
        request.request_id = request_id  # type: ignore[attr-defined]
        clear_contextvars()
        bind_contextvars(request_id=request_id)
        try:
            response = self.get_response(request)
            response.headers["X-Request-Id"] = request_id
            if not response.streaming and "Content-Length" not in response.headers:
                # Without it the server sends small answers in several chunks.
                response.headers["Content-Length"] = str(len(response.content))
            log.log(
                _level(response.status_code),
                "request",
                method=request.method,
                path=request.path,
                status=response.status_code,
                duration_ms=(time.perf_counter_ns() - started) // 1000 / 1000,
            )
        finally:
            clear_contextvars()
        return response


def request_id_of(request: object) -> str:
    """The id of `request`; a new one where the middleware has not run."""
    known: str | None = getattr(request, "request_id", None)
    return known or new_request_id()


def _level(status: int) -> int:
    if status >= ERROR_FROM:
        return logging.ERROR
    return logging.WARNING if status >= WARNING_FROM else logging.INFO
