"""The envelope of /v1: an answer or an error, always with the request's id."""

from collections.abc import Mapping

from django.http import HttpRequest
from rest_framework.request import Request
from rest_framework.response import Response

from orbit.errors import Refusal
from orbit.http.request_id import request_id_of


def answer(
    request: Request,
    data: object,
    *,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """The envelope {"request_id", "data"}."""
    return Response(
        {"request_id": request_id_of(request), "data": data},
        status=status,
        headers=dict(headers) if headers else None,
    )


def refuse(request: Request, refusal: Refusal, status: int) -> Response:
    """The envelope {"request_id", "error"} of one refusal."""
    return Response(
        {"request_id": request_id_of(request), "error": error_of(refusal)},
        status=status,
    )


def error_of(refusal: Refusal) -> dict[str, object]:
    """The error object {"code", "message", "field"?, ...details} of a refusal.

    Also the shape of one refused entry in the answer to a batch.
    """
    error: dict[str, object] = {"code": refusal.code, "message": refusal.message}
    if refusal.field is not None:
        error["field"] = refusal.field
    return {**refusal.details, **error}


def problem_body(
    request: HttpRequest | Request, refusal: Refusal, status: int
) -> dict[str, object]:
    """What /v1 answers for a refusal, whatever raised it."""
    del status  # the status line says it
    return {"request_id": request_id_of(request), "error": error_of(refusal)}
