"""Every call of /v1, described."""

from typing import Annotated

import msgspec

from tasks_app.api import dossier_operations, examples, schemas
from tasks_app.api.described import OPERATIONS, Operation
from tasks_app.api.parameters import (
    CONFLICT,
    CURSOR,
    HEX,
    MOMENT,
    NO_QUEUE,
    OK,
    ONCE,
    PAGE,
    REVIEWER,
    TEXT,
    limit,
    query,
)
from tasks_app.api.tasks import BatchedTask
from tasks_app.api.work import ReportBatchIn
from tasks_app.domain import commands
from tasks_app.domain.lifecycle import State

__all__ = ["OPERATIONS", "dossier_operations"]


class TaskBatch(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """Up to 500 tasks, each with its own key."""

    tasks: Annotated[
        list[BatchedTask],
        msgspec.Meta(min_length=1, max_length=commands.MAX_BATCH_TASKS),
    ]


STATES = query(
    "state",
    {"type": "array", "minItems": 1, "items": {"type": "string", "enum": list(State)}},
    "One or more states, with commas between them.",
    style="form",
    explode=False,
)

OPERATIONS["TaskList", "GET"] = Operation(
    id="list_tasks",
    summary="List tasks, newest first",
    permission="tasks:read",
    tag="tasks",
    notes="Summaries, without payload and result.",
    answers=OK,
    answer=schemas.TaskPage,
    query=(
        *PAGE,
        STATES,
        query("queue_id", HEX, "Of this queue."),
        query("handler", TEXT, "Of exactly this handler."),
        query("business_key", TEXT, "With exactly this business key."),
        query("created_from", MOMENT, "Accepted then or later; UTC."),
        query("created_before", MOMENT, "Accepted before then; UTC."),
    ),
)
OPERATIONS["TaskList", "POST"] = Operation(
    id="submit_task",
    summary="Submit a task",
    permission="tasks:submit",
    tag="tasks",
    notes="`owner` and `gated` need `tasks:own` too.",
    body=commands.SubmitTask,
    body_example=examples.SUBMIT,
    answers=ONCE,
    answer=schemas.TaskReceipt,
    refusals=NO_QUEUE | {409: "IdempotencyConflict", 429: "Full"},
    has_key=True,
)
OPERATIONS["TaskBatch", "POST"] = Operation(
    id="submit_tasks",
    summary="Submit up to 500 tasks",
    permission="tasks:submit",
    tag="tasks",
    notes="Each task has its own key and its own answer: created, replayed or refused. "
    "What is refused does not stop the rest.",
    body=TaskBatch,
    answers=OK,
    answer=schemas.BatchResults,
)
OPERATIONS["TaskDetail", "GET"] = Operation(
    id="get_task",
    summary="Read a task",
    permission="tasks:read",
    tag="tasks",
    answers=OK,
    answer=schemas.Task,
)
OPERATIONS["TaskAttempts", "GET"] = Operation(
    id="list_attempts",
    summary="List a task's attempts with their late evidence",
    permission="tasks:read",
    tag="tasks",
    notes="What a reviewer needs to see.",
    answers=OK,
    answer=schemas.Attempts,
)
OPERATIONS["TaskCancel", "POST"] = Operation(
    id="cancel_task",
    summary="Cancel a task",
    permission="tasks:cancel",
    tag="tasks",
    notes="At once while it waits; while it runs its worker is asked to stop.",
    body=commands.CancelTask,
    has_optional_body=True,
    answers=OK,
    answer=schemas.TaskReceipt,
    refusals=CONFLICT,
    has_key=True,
)
OPERATIONS["TaskReview", "POST"] = Operation(
    id="review_task",
    summary="Settle a task whose outcome nobody knows",
    permission="tasks:review",
    tag="recovery",
    notes="Only NEEDS_REVIEW at the expected revision. The outcome is final.",
    body=commands.ReviewTask,
    body_example=examples.REVIEW,
    answers={200: "Settled; the same key again gets the same receipt."},
    answer=schemas.ReviewReceipt,
    answer_example=examples.REVIEWED,
    refusals=CONFLICT | REVIEWER,
    has_key=True,
)
OPERATIONS["TaskProposeReview", "POST"] = Operation(
    id="propose_review",
    summary="Propose a review that another person approves",
    permission="tasks:review",
    tag="recovery",
    notes="The body of `:review`. The task does not change. One proposal is open at a "
    "time; it is over when it expires, is withdrawn, or the task moves on.",
    body=commands.ReviewTask,
    body_example=examples.REVIEW,
    answers={201: "Proposed.", 200: ONCE[200]},
    answer=schemas.ProposalReceipt,
    refusals=CONFLICT | REVIEWER,
    has_key=True,
)
OPERATIONS["TaskApproveReview", "POST"] = Operation(
    id="approve_review",
    summary="Settle a task as another person proposed",
    permission="tasks:review",
    tag="recovery",
    notes="One operation names both: `actor_id` proposed, `approver_id` approved.",
    body=commands.ApproveReview,
    answers={200: "Settled; the same key again gets the same receipt."},
    answer=schemas.ReviewReceipt,
    answer_example=examples.REVIEWED,
    refusals=CONFLICT | REVIEWER,
    has_key=True,
)
OPERATIONS["TaskWithdrawReview", "POST"] = Operation(
    id="withdraw_review",
    summary="Take a proposed review back",
    permission="tasks:review",
    tag="recovery",
    body=commands.WithdrawReview,
    answers={200: "Withdrawn; the same key again gets the same receipt."},
    answer=schemas.ProposalReceipt,
    refusals=CONFLICT,
    has_key=True,
)
OPERATIONS["TaskProposals", "GET"] = Operation(
    id="list_proposals",
    summary="List the reviews that were proposed for a task",
    permission="tasks:review",
    tag="recovery",
    notes="Oldest first, each with how it stands now.",
    answers=OK,
    answer=schemas.Proposals,
)
OPERATIONS["TaskRetry", "POST"] = Operation(
    id="retry_task",
    summary="Run a failed or cancelled task again as a new one",
    permission="tasks:retry",
    tag="recovery",
    notes="The source does not change; a task has at most one direct successor.",
    body=commands.RetryTask,
    body_example=examples.RETRY,
    answers=ONCE,
    answer=schemas.RetryReceipt,
    answer_example=examples.RETRY_ANSWER,
    refusals=CONFLICT | {429: "Full"},
    has_key=True,
)
OPERATIONS["TaskProbe", "POST"] = Operation(
    id="start_probe",
    summary="Have it looked up whether a task took effect",
    permission="tasks:review",
    tag="recovery",
    notes="Only NEEDS_REVIEW, one at a time. The answer is the probe's task, for a "
    "worker that declares a probe of this handler. What it finds becomes evidence of "
    "the task and settles nothing.",
    body=commands.StartProbe,
    has_optional_body=True,
    answers=ONCE,
    answer=schemas.RetryReceipt,
    refusals=CONFLICT | {429: "Full"},
    has_key=True,
)
OPERATIONS["TaskOperations", "GET"] = Operation(
    id="list_operations",
    summary="List what was done to a task, newest first",
    permission="tasks:audit:read",
    tag="recovery",
    answers=OK,
    answer=schemas.OperationPage,
    answer_example=examples.OPERATIONS,
    query=PAGE,
)
OPERATIONS["TaskOperation", "GET"] = Operation(
    id="get_operation",
    summary="Read one operation with before and after",
    permission="tasks:audit:read",
    tag="recovery",
    answers=OK,
    answer=schemas.Operation,
    answer_example=examples.OPERATION,
)
OPERATIONS["RecoveryStanding", "GET"] = Operation(
    id="get_recovery_slo",
    summary="How recovery stands: what waits for people, and how fast they settle it",
    permission="tasks:audit:read",
    tag="recovery",
    notes="Of the token's queues. `inflow` is what came to need review, `settled` what "
    "people decided; the time to settle looks back over the window.",
    answers=OK,
    answer=schemas.RecoverySLO,
    query=(
        query(
            "window_hours",
            {"type": "integer", "minimum": 1, "maximum": 744, "default": 24},
            "What the time to settle looks back over.",
        ),
    ),
)
OPERATIONS["QueueClaim", "POST"] = Operation(
    id="claim_tasks",
    summary="Lease due tasks to a worker",
    permission="tasks:work",
    tag="work",
    notes="Never waits: an empty list when nothing may start now.",
    body=commands.ClaimTasks,
    answers=OK,
    answer=schemas.Assignments,
)
OPERATIONS["ReportBatch", "POST"] = Operation(
    id="report",
    summary="Report up to 100 attempts",
    permission="tasks:work",
    tag="work",
    notes="`result` belongs to succeed, `error` and `retryable` to fail; `error` may "
    "come with unknown. Each report has its own answer.",
    body=ReportBatchIn,
    answers=OK,
    answer=schemas.ReportResults,
)
OPERATIONS["AttemptHeartbeat", "POST"] = Operation(
    id="heartbeat",
    summary="Extend the lease",
    permission="tasks:work",
    tag="work",
    body=commands.Heartbeat,
    answers=OK,
    answer=schemas.Lease,
    refusals=CONFLICT,
)


def _report(view: str, name: str, summary: str, body: type[msgspec.Struct]) -> None:
    OPERATIONS[view, "POST"] = Operation(
        id=name,
        summary=summary,
        permission="tasks:work",
        tag="work",
        notes="After the lease has ended: 409, and the report is kept as evidence.",
        body=body,
        answers=OK,
        answer=schemas.ReportedTask,
        refusals=CONFLICT,
    )


_report("AttemptSucceed", "succeed", "The attempt succeeded", commands.Succeed)
_report("AttemptFail", "fail", "The attempt failed", commands.Fail)
_report("AttemptUnknown", "unknown", "The outcome is unknown", commands.Unknown)
_report(
    "AttemptCancelled",
    "acknowledge_cancel",
    "The attempt stopped because cancel was requested",
    commands.Cancelled,
)
OPERATIONS["EventFeed", "GET"] = Operation(
    id="list_events",
    summary="Follow result events in commit order",
    permission="events:read",
    tag="events",
    notes="`next_cursor` is always there: ask again with it later. Ignore an event "
    "whose revision is not above the one that is known of its task; but "
    "`task.contradicted` has the revision of the outcome that a late report disagrees "
    "with, moves nothing, and may come more than once.",
    answers=OK,
    answer=schemas.EventPage,
    query=(limit(100, 500), CURSOR),
)
