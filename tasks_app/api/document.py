"""The OpenAPI 3.1 document of /v1, generated from the views and their table."""

import functools
from typing import Any

from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.settings import patched_settings
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from tasks_app.api import schemas
from tasks_app.api.described import (
    MEDIA_TYPE,
    SCHEMAS,
    Schema,
    component_schemas,
)
from tasks_app.api.operations import OPERATIONS

PREFIX = "/v1/"
TITLE = "Orbit task API"
DESCRIPTION = """Tasks that must not be lost and must not be done twice.

Every answer is an envelope: `request_id` with `data`, or with `error`. Numbers in
payloads and results keep every digit; read them with a parser that does too. Every
write of a client takes an `Idempotency-Key`: keep it, with the body, until the
outcome is known. `404` is also the answer for what lies outside the token's
namespace and queues."""

# How the document is generated: by this module and by `manage.py spectacular`.
SETTINGS: dict[str, Any] = {
    "TITLE": TITLE,
    "DESCRIPTION": DESCRIPTION,
    "VERSION": "1",
    "OAS_VERSION": "3.1.1",
    "TAGS": [
        {"name": "tasks", "description": "Submit, read and cancel."},
        {"name": "recovery", "description": "Review, retry, and who did what."},
        {"name": "work", "description": "The worker protocol, version 1."},
        {"name": "events", "description": "What happened, for subscribers."},
    ],
    "PREPROCESSING_HOOKS": ["tasks_app.api.document.only_v1"],
    "POSTPROCESSING_HOOKS": ["tasks_app.api.document.add_components"],
}

_MOMENT = "RFC 3339, UTC, at most microseconds, years 2000 to 9998."
_REFUSALS = {
    "InvalidArgument": "A field, confirmation, budget, cursor or parameter is wrong.",
    "Unauthenticated": "No valid token.",
    "PermissionDenied": "The token lacks the permission.",
    "NotFound": "Nothing of that id within the token's namespace and queues.",
    "IdempotencyConflict": "The key came with other content before.",
    "BodyTooLarge": "The body is over 512 KiB.",
    "UnsupportedMediaType": "The body is not declared as application/json.",
    "Full": "The queue or the application is full; ask again later, with the same key.",
    "Internal": "Orbit's own fault.",
    "Unavailable": "The outcome may be committed: keep the same key and ask again.",
}


class OpenAPIDocument(APIView):
    """GET /v1/openapi.json, open to everybody."""

    authentication_classes = ()
    permission_classes = ()
    schema = None

    def get(self, request: Request) -> Response:
        """The document of this very version."""
        return Response(document())


@functools.cache
def document() -> Schema:
    """The document; made once."""
    with patched_settings(SETTINGS):
        generator: Any = SchemaGenerator
        found: Schema = generator().get_schema(request=None, public=True)
    return found


def only_v1(endpoints: list[tuple[str, str, str, Any]]) -> list[Any]:
    """The endpoints that this document is about."""
    return [entry for entry in endpoints if entry[0].startswith(PREFIX)]


def add_components(result: Schema, **_options: object) -> Schema:
    """The document with what its operations refer to."""
    result["components"] = {
        **result["components"],
        "schemas": {**_schemas(), "RequestId": _REQUEST_ID},
        "parameters": {"IdempotencyKey": _KEY},
        "headers": _HEADERS,
        "responses": _responses(),
    }
    return result


def _schemas() -> dict[str, Schema]:
    shapes = {operation.answer for operation in OPERATIONS.values()}
    shapes |= {entry.body for entry in OPERATIONS.values() if entry.body is not None}
    shapes |= {getattr(schemas, name) for name in (*_REFUSALS, *_MORE_REFUSALS)}
    found = component_schemas(tuple(sorted(shapes, key=lambda shape: shape.__name__)))
    for name in ("SubmitTask", "RetryTask", "BatchedTask"):
        for member in ("available_at", "start_deadline_at"):
            found[name]["properties"][member] = {
                "type": ["string", "null"],
                "format": "date-time",
                "default": None,
                "description": _MOMENT,
            }
    found["ReviewTask"]["properties"]["result"] = {"not": {"type": "null"}}
    found["ReviewTask"]["properties"]["execution_settled"] = {"const": True}
    found["RetryTask"]["properties"]["safe_to_retry"] = {"const": True}
    found["BatchedTask"]["properties"]["idempotency_key"] = _KEY["schema"]
    return dict(sorted(found.items()))


def _responses() -> dict[str, Schema]:
    refusals = {
        name: _refusal(words, {"$ref": SCHEMAS.format(name=name)})
        for name, words in _REFUSALS.items()
    }
    both = [{"$ref": SCHEMAS.format(name=name)} for name in _CONFLICTS]
    refusals["Conflict"] = _refusal(
        "State, revision, owner, gate, lease or permit forbids it; or the key came "
        "with other content before.",
        {"oneOf": both},
    )
    refusals["ReviewForbidden"] = _refusal(
        "The token lacks the permission, or the queue wants another person.",
        {"oneOf": [_schema("PermissionDenied"), _schema("ReviewNotAllowed")]},
    )
    for name in ("Full", "Unavailable"):
        refusals[name]["headers"]["Retry-After"] = _header("RetryAfter")
    refusals["Unauthenticated"]["headers"]["WWW-Authenticate"] = _header("Challenge")
    return refusals


def _refusal(words: str, error: Schema) -> Schema:
    envelope = {
        "type": "object",
        "required": ["request_id", "error"],
        "properties": {
            "request_id": {"$ref": SCHEMAS.format(name="RequestId")},
            "error": error,
        },
    }
    return {
        "description": words,
        "headers": {"X-Request-Id": _header("RequestId")},
        "content": {MEDIA_TYPE: {"schema": envelope}},
    }


def _schema(name: str) -> Schema:
    return {"$ref": SCHEMAS.format(name=name)}


def _header(name: str) -> Schema:
    return {"$ref": f"#/components/headers/{name}"}


_MORE_REFUSALS = ("StateConflict", "ReviewNotAllowed")
_CONFLICTS = ("StateConflict", "IdempotencyConflict")
_REQUEST_ID = {
    "type": "string",
    "pattern": "^[0-9a-f]{32}$",
    "description": "New for each call; the server's log has it too.",
}
_KEY: Schema = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": True,
    "description": "One intention, one key. The same key and content are answered with "
    "the first receipt; white space and the order of members do not count.",
    "schema": {"type": "string", "pattern": "^[A-Za-z0-9._:-]{1,128}$"},
}
_HEADERS: dict[str, Schema] = {
    "RequestId": {
        "description": "The request_id of the body.",
        "schema": {"$ref": SCHEMAS.format(name="RequestId")},
    },
    "RetryAfter": {
        "description": "Seconds to wait before asking again.",
        "schema": {"type": "integer", "minimum": 1},
    },
    "Challenge": {
        "description": "How to authenticate.",
        "schema": {"const": "Bearer"},
    },
}
