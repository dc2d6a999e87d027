"""How each call of the open job API is described."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import ComponentRegistry

from openapi_app.api.schemas import (
    HEX,
    KEY,
    TEXT,
    Schema,
    envelope,
    problem,
    ref,
)

BEARER = "jobToken"
MEDIA_TYPE = "application/json"

UNAUTHENTICATED = [
    "token_missing",
    "invalid_token",
    "token_expired",
    "token_revoked",
    "token_suspended",
    "application_disabled",
]
ALWAYS: Mapping[int, list[str]] = {
    400: ["invalid_request"],
    401: UNAUTHENTICATED,
    429: ["rate_limited"],
    500: ["internal_error"],
    503: ["service_unavailable"],
}
MEANING = {
    400: "The call breaks a rule; nothing was touched.",
    401: "No valid token.",
    403: "The token may not do this, or its range does not include the job.",
    404: "There is no such thing.",
    409: "The present state of things forbids it.",
    413: "The body is too large.",
    415: "The body is not declared as application/json.",
    429: "Too many calls: wait as long as Retry-After says.",
    500: "Orbit's own fault.",
    503: "A part that is needed does not answer.",
}
WITH_RETRY_AFTER = {429, 503}
QUOTA_HEADERS = ("RateLimit", "RateLimit-Policy")


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One call: its name, who may make it, what goes in, and all that comes out."""

    id: str
    summary: str
    notes: str
    scope: str | None
    answer: str
    status: int = 200
    parameters: tuple[Schema, ...] = ()
    refusals: Mapping[int, list[str]] = field(default_factory=dict)

    @property
    def is_trigger(self) -> bool:
        """Whether it starts something."""
        return self.status != 200  # noqa: PLR2004 - a read answers 200

    def described(self, *, path_ids: list[str]) -> Schema:
        """The operation object."""
        scope = f"`{self.scope}`" if self.scope else "any"
        operation: Schema = {
            "operationId": self.id,
            "summary": self.summary,
            "description": f"{self.notes}\n\nScope: {scope}.",
            "tags": ["open jobs"],
            "security": [{BEARER: []}],
            "parameters": [
                {"name": name, "in": "path", "required": True, "schema": HEX}
                for name in path_ids
            ]
            + list(self.parameters),
            "responses": self._responses(),
        }
        if self.is_trigger:
            schema = ref("NothingElse")
            operation["requestBody"] = {
                "required": False,
                "content": {MEDIA_TYPE: {"schema": schema, "example": {}}},
            }
        return operation

    def _responses(self) -> Schema:
        headers = ["X-Request-Id", *QUOTA_HEADERS]
        if self.is_trigger:
            headers += ["Location", "Idempotency-Replayed"]
        body = envelope(
            code=self.status, message={"const": "ok"}, data=ref(self.answer)
        )
        answers = {str(self.status): _response("As asked.", headers, body)}
        forbidden = {403: ["insufficient_scope"]} if self.scope else {}
        refusals = {**ALWAYS, **forbidden, **self.refusals}
        for code in sorted(refusals):
            answers[str(code)] = self._refusal(code, refusals[code])
        return answers

    def _refusal(self, code: int, messages: list[str]) -> Schema:
        body = problem(code=code, messages=messages, is_trigger=self.is_trigger)
        headers = ["X-Request-Id"]
        if code == 401:  # noqa: PLR2004
            headers.append("WWW-Authenticate")
        if code in WITH_RETRY_AFTER:
            headers.append("Retry-After")
        return _response(MEANING[code], headers, body)


def _response(description: str, headers: list[str], body: Schema) -> Schema:
    return {
        "description": description,
        "headers": {name: {"$ref": f"#/components/headers/{name}"} for name in headers},
        "content": {MEDIA_TYPE: {"schema": body}},
    }


def query(name: str, schema: Schema, description: str) -> Schema:
    """A query parameter."""
    return {"name": name, "in": "query", "schema": schema, "description": description}


def key_header(*, required: bool, description: str) -> Schema:
    """The Idempotency-Key."""
    return {
        "name": "Idempotency-Key",
        "in": "header",
        "required": required,
        "schema": KEY,
        "description": description,
    }


class Described(AutoSchema):
    """The schema of a view that says itself what its methods do."""

    def get_operation(
        self,
        path: str,
        path_regex: str,
        path_prefix: str,
        method: str,
        registry: ComponentRegistry,
    ) -> Schema:
        """The operation object of this method; KeyError when it is not described."""
        self.registry = registry
        self.method = method.upper()
        self.get_auth()  # registers the scheme
        operations: Mapping[str, Operation] = self.view.operations  # type: ignore[attr-defined]
        path_ids = [part.split("}")[0] for part in path.split("{")[1:]]
        return operations[self.method].described(path_ids=path_ids)


class OpenJobTokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """How a caller proves who it is."""

    target_class = "openapi_app.api.authentication.OpenJobAuthentication"
    name = BEARER

    def get_security_definition(self, auto_schema: AutoSchema) -> Schema:
        """A service-account token."""
        return {
            "type": "http",
            "scheme": "bearer",
            "bearerFormat": "fja_<key id>_<secret>",
            "description": "A service-account token of audience OPEN_JOBS.",
        }


HEADERS: dict[str, Schema] = {
    name: {"description": description, "schema": schema}
    for name, description, schema in (
        ("X-Request-Id", "The request_id of the body.", HEX),
        (
            "RateLimit",
            'As in "reads";r=119;t=42: left, and seconds to the whole.',
            TEXT,
        ),
        ("RateLimit-Policy", 'As in "reads";q=120;w=60: the limit.', TEXT),
        (
            "Retry-After",
            "Seconds; waiting exactly that long works.",
            {"type": "integer", "minimum": 1},
        ),
        ("WWW-Authenticate", "How to authenticate.", {"const": "Bearer"}),
        ("Location", "Where to follow the execution.", TEXT),
        (
            "Idempotency-Replayed",
            "Whether an earlier call with this key had started it.",
            {"enum": ["true", "false"]},
        ),
    )
}
