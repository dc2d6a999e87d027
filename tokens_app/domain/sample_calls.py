"""The calls that samples show, before they are written in a language."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tokens_app.domain.scope import Audience

# Written as {NAME} in a path or a body; the reader of a sample fills them in.
SLOTS = (
    "JOB_ID",
    "EXECUTION_ID",
    "QUEUE_ID",
    "TASK_ID",
    "REVISION",
    "ATTEMPT_ID",
    "LEASE_TOKEN",
    "WORKER_ID",
    "WORKFLOW_ID",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleCall:
    """One call: shown to a token with all of `scopes`.

    With `has_key` it carries an idempotency key. Paths and bodies are constants of
    this module but for their slots.
    """

    title: str
    purpose: str
    scopes: frozenset[str]
    method: str
    path: str
    body: Mapping[str, Any] | None = None
    has_key: bool = False
    slots: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        text = f"{self.path} {self.body}"
        used = tuple(name for name in SLOTS if f"{{{name}}}" in text)
        object.__setattr__(self, "slots", used)


def _call(
    scopes: str,
    method_and_path: str,
    title: str,
    purpose: str,
    **more: Any,  # noqa: ANN401
) -> SampleCall:
    method, path = method_and_path.split(" ", 1)
    return SampleCall(
        title=title,
        purpose=purpose,
        scopes=frozenset(scopes.split()),
        method=method,
        path=path,
        **more,
    )


SAME_KEY = "Repeat an unclear answer with the same key: it never happens twice."

_OPEN_JOBS = (
    _call(
        "",
        "GET /openapi/v1/token",
        "Try the token",
        "Shows its scopes, its range, its expiry and its quota.",
    ),
    _call(
        "jobs:read",
        "GET /openapi/v1/jobs?page_size=20",
        "List the jobs",
        "Shows the jobs in the token's range, and which of them can be started.",
    ),
    _call(
        "jobs:read",
        "GET /openapi/v1/jobs/{JOB_ID}",
        "Look at a job",
        "Shows one job with its next run and its last execution.",
    ),
    _call(
        "jobs:trigger",
        "POST /openapi/v1/jobs/{JOB_ID}/executions",
        "Start a job",
        f"Answers the execution's id. {SAME_KEY}",
        body={},
        has_key=True,
    ),
    _call(
        "executions:read",
        "GET /openapi/v1/executions/{EXECUTION_ID}?wait_seconds=20",
        "Follow an execution",
        "Answers as soon as it is settled, or after 20 seconds.",
    ),
    _call(
        "executions:read",
        "GET /openapi/v1/jobs/{JOB_ID}/executions?page_size=20",
        "List a job's executions",
        "Shows the newest first.",
    ),
)

_TASK = {
    "queue_id": "{QUEUE_ID}",
    "handler": "example.greet",
    "handler_version": "v1",
    "payload_version": "v1",
    "payload": {"name": "Orbit"},
    "retry": {"max_attempts": 3, "attempt_timeout_ms": 60000},
    "task_timeout_ms": 3600000,
}

_TASKS = (
    _call(
        "tasks:submit",
        "POST /v1/tasks",
        "Submit a task",
        f"Answers the task's id. {SAME_KEY}",
        body=_TASK,
        has_key=True,
    ),
    _call(
        "tasks:submit tasks:own",
        "POST /v1/tasks",
        "Submit a task of a workflow",
        f"The workflow owns the task and decides on reviews. {SAME_KEY}",
        body={**_TASK, "owner": {"kind": "WORKFLOW", "id": "{WORKFLOW_ID}"}},
        has_key=True,
    ),
    _call(
        "tasks:read",
        "GET /v1/tasks?limit=20",
        "List tasks",
        "Shows the newest first.",
    ),
    _call(
        "tasks:read",
        "GET /v1/tasks/{TASK_ID}",
        "Look at a task",
        "Shows its state, its revision and its result.",
    ),
    _call(
        "tasks:cancel",
        "POST /v1/tasks/{TASK_ID}:cancel",
        "Cancel a task",
        f"Ends a waiting task and asks a running one to stop. {SAME_KEY}",
        body={"reason": "No longer needed."},
        has_key=True,
    ),
    _call(
        "tasks:work",
        "POST /v1/queues/{QUEUE_ID}:claim",
        "Claim a task",
        "Leases a task to this worker; keep attempt_id and lease_token.",
        body={
            "worker": {"name": "example", "instance_id": "{WORKER_ID}"},
            "max_tasks": 1,
        },
    ),
    _call(
        "tasks:work",
        "POST /v1/attempts/{ATTEMPT_ID}:heartbeat",
        "Keep the lease",
        "Extends it, and says whether to stop.",
        body={"lease_token": "{LEASE_TOKEN}"},
    ),
    _call(
        "tasks:work",
        "POST /v1/attempts/{ATTEMPT_ID}:succeed",
        "Report success",
        "Ends the attempt with its result.",
        body={"lease_token": "{LEASE_TOKEN}", "result": {"done": True}},
    ),
    _call(
        "tasks:review",
        "POST /v1/tasks/{TASK_ID}:review",
        "Settle an uncertain task",
        f"Say what happened and where that can be seen. {SAME_KEY}",
        body={
            "expected_revision": "{REVISION}",
            "reason": "Looked it up in the ledger.",
            "evidence_ref": "evidence:1",
            "execution_settled": True,
            "outcome": "SUCCEEDED",
            "result": {"done": True},
        },
        has_key=True,
    ),
    _call(
        "tasks:retry",
        "POST /v1/tasks/{TASK_ID}:retry",
        "Run a final task again",
        f"Creates a new task that is linked to this one. {SAME_KEY}",
        body={
            "expected_revision": "{REVISION}",
            "reason": "The cause is gone.",
            "evidence_ref": "evidence:1",
            "safe_to_retry": True,
            "task_timeout_ms": 3600000,
        },
        has_key=True,
    ),
    _call(
        "tasks:audit:read",
        "GET /v1/tasks/{TASK_ID}/operations?limit=20",
        "Read a task's audit",
        "Shows who did what to it, and why.",
    ),
    _call(
        "events:read",
        "GET /v1/events?limit=100",
        "Follow the events",
        "Go on with the next_cursor of each answer.",
    ),
)

CALLS: Mapping[str, tuple[SampleCall, ...]] = {
    Audience.OPEN_JOBS: _OPEN_JOBS,
    Audience.TASKS: _TASKS,
}
