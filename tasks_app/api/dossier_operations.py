"""The calls that people decide by, described."""

from tasks_app.api import dossier_schemas as schemas
from tasks_app.api import examples
from tasks_app.api.described import OPERATIONS, Operation
from tasks_app.api.parameters import HEX, OK, PAGE, query
from tasks_app.domain import commands
from tasks_app.domain.receipts import LookUpReceipt

_FORETELLS = (
    "The body of the call itself, and the same checks; nothing is written, no key is "
    "used. What the call would answer with 409 is `refusal` here; wrong input is "
    "refused with 400 as usual. Somebody may be faster than you."
)

OPERATIONS["ReviewPreview", "POST"] = Operation(
    id="preview_review",
    summary="See what a review would do, without doing it",
    permission="tasks:review",
    tag="recovery",
    notes=_FORETELLS,
    body=commands.ReviewTask,
    body_example=examples.REVIEW,
    answers=OK,
    answer=schemas.Preview,
)
OPERATIONS["RetryPreview", "POST"] = Operation(
    id="preview_retry",
    summary="See what a retry would do, without doing it",
    permission="tasks:retry",
    tag="recovery",
    notes=f"{_FORETELLS} A full queue is no refusal: `quota.would_fit` tells it.",
    body=commands.RetryTask,
    body_example=examples.RETRY,
    answers=OK,
    answer=schemas.Preview,
)
OPERATIONS["TaskDossier", "GET"] = Operation(
    id="get_dossier",
    summary="Read all that is known of a task",
    permission="tasks:audit:read",
    tag="recovery",
    notes="Each list has its newest 50. Excerpts of payload, result and late reports "
    "are there only if the token has `tasks:read` too. Send `dossier_digest` with the "
    "review as `expected_dossier_digest`.",
    answers=OK,
    answer=schemas.Dossier,
)
OPERATIONS["TaskLineage", "GET"] = Operation(
    id="get_lineage",
    summary="Read a task's chain of retries, root to tip",
    permission="tasks:read",
    tag="recovery",
    answers=OK,
    answer=schemas.Lineage,
)
OPERATIONS["ContradictionList", "GET"] = Operation(
    id="list_contradictions",
    summary="List late reports that disagree with an outcome, newest first",
    permission="tasks:audit:read",
    tag="recovery",
    notes="The outcome stays. Nothing here says which of the two is right.",
    answers=OK,
    answer=schemas.ContradictionPage,
    query=(*PAGE, query("task_id", HEX, "Of this task.")),
)
OPERATIONS["ReceiptLookUp", "POST"] = Operation(
    id="look_up_receipt",
    summary="Ask what became of a write, without making it again",
    permission="tasks:read",
    tag="recovery",
    notes="`Idempotency-Key` is the key of the write that is asked about; only this "
    "token's own writes are found. NEVER_SEEN is about what is committed now: a "
    "request still under way may commit later, so keep the key.",
    body=LookUpReceipt,
    answers=OK,
    answer=schemas.ReceiptFinding,
    refusals={404: "NotFound"},
    has_key=True,
)
