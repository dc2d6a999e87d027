"""Every call of the open job API, described."""

from openapi_app.api.described import Operation, key_header, query
from openapi_app.api.schemas import TEXT

PAGE = (
    query(
        "page_size",
        {"type": "integer", "minimum": 1, "maximum": 100, "default": 20},
        "How many at most.",
    ),
    query(
        "cursor",
        {"type": "string", "maxLength": 1024},
        "The next_cursor of the page before; bound to this list and token.",
    ),
)
RANGE = {
    403: ["insufficient_scope", "resource_not_permitted"],
    404: ["job_not_found", "not_found"],
}
KEY_FAULTS = ["idempotency_key_missing", "idempotency_key_invalid"]

LIST_JOBS = Operation(
    id="list_jobs",
    summary="List the jobs within the token's range",
    notes="Oldest first.",
    scope="jobs:read",
    answer="JobPage",
    parameters=(
        *PAGE,
        query("group", TEXT, "Of exactly this group."),
        query("name", TEXT, "Of exactly this name."),
        query(
            "triggerable",
            {"type": "string", "enum": ["true", "false"]},
            "Only those that can, or cannot, be triggered now.",
        ),
    ),
)
GET_JOB = Operation(
    id="get_job",
    summary="Read a job",
    notes="A job outside the range is answered as if there were none, and both 403.",
    scope="jobs:read",
    answer="Job",
    refusals=RANGE,
)
TRIGGER_JOB = Operation(
    id="trigger_job",
    summary="Start a job, once for each key",
    notes="The same token, job and key within 24 hours are the same execution: keep "
    "the key and repeat the call with it until it is answered. No body, or {}.",
    scope="jobs:trigger",
    answer="Execution",
    status=202,
    parameters=(
        key_header(required=True, description="One intention, one key. No quotes."),
    ),
    refusals={
        **RANGE,
        400: ["invalid_request", *KEY_FAULTS, "unknown_field"],
        409: [
            "job_not_triggerable",
            "idempotency_in_progress",
            "idempotency_key_reused",
        ],
        413: ["body_too_large"],
        415: ["unsupported_media_type"],
        503: ["trigger_unavailable", "service_unavailable"],
    },
)
LIST_EXECUTIONS = Operation(
    id="list_executions",
    summary="List a job's executions, newest first",
    notes="With an Idempotency-Key: only the execution that this key started. So a "
    "caller that lost the answer learns whether its trigger landed.",
    scope="executions:read",
    answer="ExecutionPage",
    parameters=(
        *PAGE,
        key_header(required=False, description="Of a trigger of this very token."),
    ),
    refusals={**RANGE, 400: ["invalid_request", *KEY_FAULTS]},
)
GET_EXECUTION = Operation(
    id="get_execution",
    summary="Follow an execution",
    notes="Executions outside the range are 404 like those that do not exist.",
    scope="executions:read",
    answer="Execution",
    parameters=(
        query(
            "wait_seconds",
            {"type": "integer", "minimum": 0, "maximum": 20, "default": 0},
            "Answer as soon as it is settled, or after this time; a busy server may "
            "answer earlier.",
        ),
    ),
    refusals={404: ["execution_not_found", "not_found"]},
)
GET_TOKEN = Operation(
    id="get_token",
    summary="Read what this token may do",
    notes="Scopes, range, expiry, and what is left of its quota.",
    scope=None,
    answer="Token",
)
