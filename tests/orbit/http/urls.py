"""A small /v1 that answers, refuses and breaks on request."""

import msgspec
from django.core.exceptions import PermissionDenied, SuspiciousOperation
from django.db import connection
from django.http import Http404, HttpResponse
from django.urls import path
from rest_framework import exceptions as drf
from rest_framework.views import APIView

from orbit import errors
from orbit.http import health
from orbit.http.envelope import answer
from orbit.http.exact_json import decode

handler400 = "orbit.http.problems.bad_request"
handler403 = "orbit.http.problems.permission_denied"
handler404 = "orbit.http.problems.page_not_found"
handler500 = "orbit.http.problems.server_error"


class QueueFull(errors.TooMany):
    code = "QUEUE_FULL"


RAISED = {
    "conflict": lambda: errors.Conflict(
        "Read it again.", details={"reason": "REVISION", "revision": "3"}
    ),
    "forbidden": lambda: errors.Forbidden("No."),
    "full": lambda: QueueFull("Full.", details={"retry_after_ms": 1500}),
    "invalid": lambda: errors.Invalid("Wrong.", field="retry.max_attempts"),
    "missing": lambda: errors.NotFound("None."),
    "unauthenticated": lambda: errors.Unauthenticated("Send a token."),
    "unavailable": lambda: errors.Unavailable("Later."),
    "broken": lambda: RuntimeError("fta_0123456789abcdefSECRETSECRETSECRET"),
    "django-missing": lambda: Http404("No Task matches the given query."),
    "django-denied": PermissionDenied,
    "django-suspicious": lambda: SuspiciousOperation("odd"),
    "drf-throttled": lambda: drf.Throttled(wait=2),
    "drf-unauthenticated": drf.NotAuthenticated,
    "drf-parse": lambda: drf.ParseError("bad"),
    "drf-validation": lambda: drf.ValidationError({"retry": {"limit": ["Too low."]}}),
    "nul": lambda: ValueError("x"),
}


class EchoIn(msgspec.Struct, forbid_unknown_fields=True):
    """One payload, kept as written."""

    payload: msgspec.Raw


class Open(APIView):
    """A view that anyone may call."""

    permission_classes = ()


class Echo(Open):
    def post(self, request):
        shape = decode(request.data, EchoIn)
        return answer(request, {"payload": shape.payload}, status=201)

    def get(self, request):
        return answer(request, {"method": request.method})


class Raise(Open):
    def get(self, _request, name):
        error = RAISED[name]()
        raise error

    post = get


class SQL(Open):
    """Runs the statement that the body is."""

    def post(self, request):
        with connection.cursor() as cursor:
            cursor.execute(decode(request.data, str))
            return answer(request, cursor.fetchone()[0] if cursor.description else None)


class Text(Open):
    """Stores the text that the body is, unchecked."""

    def post(self, request):
        with connection.cursor() as cursor:
            cursor.execute("SELECT %s::text", ["a\0b"])
        return answer(request, None)


class Unrenderable(Open):
    def get(self, request):
        return answer(request, object())


def page(_request):
    return HttpResponse("fine")


def broken_page(_request):
    raise RuntimeError("broken")


def denied_page(_request):
    raise PermissionDenied


urlpatterns = [
    path("livez", health.livez),
    path("readyz", health.readyz),
    path("v1/echo", Echo.as_view()),
    path("v1/raise/<name>", Raise.as_view()),
    path("v1/sql", SQL.as_view()),
    path("v1/text", Text.as_view()),
    path("v1/unrenderable", Unrenderable.as_view()),
    path("v1/broken-function", broken_page),
    path("page", page),
    path("broken-page", broken_page),
    path("denied-page", denied_page),
]
