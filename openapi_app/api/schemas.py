"""The shapes of the open job API as JSON Schema 2020-12."""

from typing import Any

from openapi_app.domain.errors import WhyNot
from openapi_app.domain.words import ExecutionState, ScheduleType, Source

Schema = dict[str, Any]

TEXT: Schema = {"type": "string"}
COUNT: Schema = {"type": "integer", "minimum": 0}
HEX: Schema = {"type": "string", "pattern": "^[0-9a-f]{32}$"}
MOMENT: Schema = {"type": "string", "format": "date-time"}
KEY: Schema = {"type": "string", "pattern": "^[A-Za-z0-9._:-]{8,128}$"}


def ref(name: str) -> Schema:
    """A reference to a component."""
    return {"$ref": f"#/components/schemas/{name}"}


def words(known: type[Any]) -> Schema:
    """One of a closed vocabulary."""
    return {"type": "string", "enum": [str(word) for word in known]}


def optional(schema: Schema) -> Schema:
    """The schema, or null."""
    return {"anyOf": [schema, {"type": "null"}]}


def thing(description: str, /, **members: Schema) -> Schema:
    """An object with exactly these members."""
    return {
        "type": "object",
        "description": description,
        "required": list(members),
        "properties": members,
        "additionalProperties": False,
    }


def page_of(name: str) -> Schema:
    """A page of a list; `next_cursor` only where there is more."""
    page = thing("A page.", items={"type": "array", "items": ref(name)})
    page["properties"]["next_cursor"] = {"type": "string", "maxLength": 1024}
    return page


_GLANCE = thing(
    "An execution in few words.",
    id=HEX,
    state=ref("ExecutionState"),
    started_at=optional(MOMENT),
    finished_at=optional(MOMENT),
)

COMPONENTS: dict[str, Schema] = {
    "Job": thing(
        "A job within the token's range.",
        id=HEX,
        name=TEXT,
        group=TEXT,
        description=TEXT,
        schedule_type=words(ScheduleType),
        timezone=TEXT,
        enabled={"type": "boolean"},
        triggerable={"type": "boolean"},
        not_triggerable_reason=optional(words(WhyNot)),
        next_run_at=optional(MOMENT),
        last_execution=optional(_GLANCE),
    ),
    "JobPage": page_of("Job"),
    "ExecutionState": {
        **words(ExecutionState),
        "description": "ACCEPTED and RUNNING move on; NEEDS_REVIEW waits for a person; "
        "the others are final.",
    },
    "Execution": thing(
        "An execution in its present state.",
        id=HEX,
        job_id=HEX,
        job_name=TEXT,
        group=TEXT,
        source=words(Source),
        state=ref("ExecutionState"),
        accepted_at=MOMENT,
        started_at=optional(MOMENT),
        finished_at=optional(MOMENT),
        duration_ms=optional(COUNT),
        attempts=COUNT,
    ),
    "ExecutionPage": page_of("Execution"),
    "Quota": thing(
        "A limit and what is left of it; null while that is not known.",
        limit={"type": "integer", "minimum": 1},
        window_seconds={"type": "integer", "minimum": 1},
        remaining=optional(COUNT),
        reset_seconds=optional(COUNT),
    ),
    "Token": thing(
        "What a token may do.",
        key_id=TEXT,
        name=TEXT,
        scopes={"type": "array", "items": TEXT},
        range=thing(
            "Job ids and group names, united; empty means nothing.",
            job_ids={"type": "array", "items": HEX},
            job_groups={"type": "array", "items": TEXT},
        ),
        expires_at=MOMENT,
        quota=thing("Calls a minute.", reads=ref("Quota"), triggers=ref("Quota")),
    ),
    "NothingElse": {
        "type": "object",
        "description": "Nothing of a job can be overridden.",
        "additionalProperties": False,
        "properties": {},
    },
    "Retry": thing(
        "Whether the same call, unchanged, may be repeated, by which key, and when.",
        safe={"type": "boolean"},
        same_key={"type": "boolean"},
        after_seconds=optional({"type": "integer", "minimum": 1}),
    ),
}


def envelope(*, code: int, message: Schema, data: Schema, **more: Schema) -> Schema:
    """The envelope of every answer."""
    return thing(
        "The envelope.",
        code={"const": code},
        message=message,
        data=data,
        timestamp={"type": "integer", "description": "Milliseconds since 1970."},
        request_id=HEX,
        **more,
    )


def problem(*, code: int, messages: list[str], is_trigger: bool) -> Schema:
    """The envelope of a refusal."""
    body = envelope(
        code=code,
        message={"type": "string", "enum": messages},
        data={"type": "null"},
        detail=TEXT,
        retry=ref("Retry"),
    )
    body["properties"]["field"] = TEXT
    if is_trigger:
        body["properties"]["execution_started"] = {
            "enum": [False, None],
            "description": "null: nobody can say; repeat with the same key.",
        }
        body["required"].append("execution_started")
    return body
