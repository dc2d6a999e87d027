"""How a call of /v1 is described: one Operation each, written into OpenAPI 3.1."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import ComponentRegistry

Schema = dict[str, Any]

MEDIA_TYPE = "application/json"
BEARER = "taskToken"
# In ECMA 262 `$` is the very end already; Python needs the look-ahead.
PYTHON_END, ECMA_END = r"(?![\s\S])", "$"
SCHEMAS = "#/components/schemas/{name}"
RESPONSES = "#/components/responses/{name}"

# The refusals that may meet every call, and every call with a body.
ALWAYS = {
    400: "InvalidArgument",
    401: "Unauthenticated",
    403: "PermissionDenied",
    500: "Internal",
    503: "Unavailable",
}
WITH_BODY = {413: "BodyTooLarge", 415: "UnsupportedMediaType"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One call: its name, who may make it, what goes in, and all that comes out."""

    id: str
    summary: str
    permission: str
    tag: str
    answers: Mapping[int, str]
    answer: type[msgspec.Struct]
    body: type[msgspec.Struct] | None = None
    notes: str = ""
    refusals: Mapping[int, str] = field(default_factory=dict)
    query: tuple[Schema, ...] = ()
    has_key: bool = False
    has_optional_body: bool = False
    body_example: object = None
    answer_example: object = None

    def described(self, *, path_ids: tuple[str, ...]) -> Schema:
        """The operation object."""
        text = f"{self.notes}\n\nPermission: `{self.permission}`.".strip()
        operation: Schema = {
            "operationId": self.id,
            "summary": self.summary,
            "description": text,
            "tags": [self.tag],
            "security": [{BEARER: []}],
            "parameters": self._parameters(path_ids),
            "responses": self._responses(path_ids),
        }
        if self.body is not None:
            operation["requestBody"] = {
                "required": not self.has_optional_body,
                "content": _content(_ref(self.body), self.body_example),
            }
        return operation

    def _parameters(self, path_ids: tuple[str, ...]) -> list[Schema]:
        parameters = [
            {
                "name": name,
                "in": "path",
                "required": True,
                "schema": {"type": "string", "pattern": "^[0-9a-f]{32}$"},
            }
            for name in path_ids
        ]
        if self.has_key:
            parameters.append({"$ref": "#/components/parameters/IdempotencyKey"})
        return [*parameters, *self.query]

    def _responses(self, path_ids: tuple[str, ...]) -> Schema:
        envelope = {
            "type": "object",
            "required": ["request_id", "data"],
            "properties": {
                "request_id": {"$ref": SCHEMAS.format(name="RequestId")},
                "data": _ref(self.answer),
            },
        }
        answers: dict[int, Schema] = {
            status: {
                "description": words,
                "headers": {"X-Request-Id": {"$ref": "#/components/headers/RequestId"}},
                "content": _content(envelope, self._example_of(status)),
            }
            for status, words in self.answers.items()
        }
        refused = {
            **ALWAYS,
            **({404: "NotFound"} if path_ids else {}),
            **(WITH_BODY if self.body else {}),
            **self.refusals,
        }
        for status, name in refused.items():
            answers[status] = {"$ref": RESPONSES.format(name=name)}
        return {str(status): answers[status] for status in sorted(answers)}

    def _example_of(self, status: int) -> object:
        return self.answer_example if status == next(iter(self.answers)) else None


# Filled by tasks_app.api.operations; the views that it describes refer to this module.
OPERATIONS: dict[tuple[str, str], Operation] = {}


class Described(AutoSchema):
    """The schema of a view whose calls are in the table."""

    def get_operation(
        self,
        path: str,
        path_regex: str,
        path_prefix: str,
        method: str,
        registry: ComponentRegistry,
    ) -> Schema:
        """The operation object of this method; KeyError when it is not in the table."""
        self.registry = registry
        self.method = method.upper()
        self.get_auth()  # registers the scheme
        operation = OPERATIONS[type(self.view).__name__, self.method]
        path_ids = tuple(part.split("}")[0] for part in path.split("{")[1:])
        return operation.described(path_ids=path_ids)


class TaskTokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """How a caller proves who it is."""

    target_class = "tasks_app.api.authentication.TaskTokenAuthentication"
    name = BEARER

    def get_security_definition(self, auto_schema: AutoSchema) -> Schema:
        """A service-account token."""
        return {
            "type": "http",
            "scheme": "bearer",
            "bearerFormat": "fta_<key id>_<secret>",
            "description": "A service-account token of audience TASKS.",
        }


def component_schemas(shapes: tuple[type[msgspec.Struct], ...]) -> dict[str, Schema]:
    """The shapes and all that they refer to, by name, as JSON Schema 2020-12."""
    _, found = msgspec.json.schema_components(shapes, ref_template=SCHEMAS)
    text = msgspec.json.encode(found).decode()
    end = msgspec.json.encode(PYTHON_END).decode().strip('"')
    schemas: dict[str, Schema] = msgspec.json.decode(text.replace(end, ECMA_END))
    for schema in schemas.values():
        schema.pop("title", None)
    return schemas


def _ref(shape: type[msgspec.Struct]) -> Schema:
    return {"$ref": SCHEMAS.format(name=shape.__name__)}


def _content(schema: Schema, example: object) -> Schema:
    shown = {} if example is None else {"example": example}
    return {MEDIA_TYPE: {"schema": schema, **shown}}
