"""The OpenAPI 3.1 document of the open job API, generated from its views."""

import functools
from typing import Any

from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.settings import patched_settings
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from openapi_app.api.described import HEADERS
from openapi_app.api.schemas import COMPONENTS, Schema

PREFIX = "/openapi/v1/"
DESCRIPTION = """Start jobs from outside, once for each key, and follow them.

Every answer is an envelope: `code` (the HTTP status), `message` (`ok` or a machine
code), `data`, `timestamp` and `request_id`; a refusal also has `detail` and `retry`.
Nothing tells how a job does its work, with what, or what came of it."""

# How the document is generated: by this module and by `manage.py spectacular`.
SETTINGS: dict[str, Any] = {
    "TITLE": "Orbit open job API",
    "DESCRIPTION": DESCRIPTION,
    "VERSION": "1",
    "OAS_VERSION": "3.1.1",
    "TAGS": [{"name": "open jobs", "description": "Jobs within a token's range."}],
    "PREPROCESSING_HOOKS": ["openapi_app.api.document.only_open_jobs"],
    "POSTPROCESSING_HOOKS": ["openapi_app.api.document.add_components"],
}


class OpenAPIDocument(APIView):
    """GET /openapi/v1/openapi.json, open to everybody."""

    authentication_classes = ()
    permission_classes = ()
    http_method_names = ["get"]
    schema = None

    def get(self, request: Request) -> Response:
        """The document of this very version."""
        return Response(document())


@functools.cache
def document() -> Schema:
    """The document; made once."""
    with patched_settings(SETTINGS):
        generator = SchemaGenerator()  # type: ignore[no-untyped-call]
        found: Schema = generator.get_schema(  # type: ignore[no-untyped-call]
            request=None, public=True
        )
    return found


def only_open_jobs(endpoints: list[tuple[str, str, str, Any]]) -> list[Any]:
    """The endpoints that this document is about."""
    return [entry for entry in endpoints if entry[0].startswith(PREFIX)]


def add_components(result: Schema, **_options: object) -> Schema:
    """The document with what its operations refer to."""
    result["components"] = {
        **result["components"],
        "schemas": dict(sorted(COMPONENTS.items())),
        "headers": HEADERS,
    }
    return result
