"""What the console says about tasks, in the visitor's language."""

from collections.abc import Mapping
from typing import NamedTuple

from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop

from orbit import words
from orbit.errors import Refusal
from orbit.words import Word
from tasks_app.domain.batches import BatchState, ItemState, Steer
from tasks_app.domain.causes import Cause
from tasks_app.domain.lifecycle import Outcome, State
from tasks_app.domain.probes import EVIDENCE_KIND, Effect, found_in
from tasks_app.domain.reports import ReportKind

# Where a refusal of the actions stands in the forms of the pages.
FORM_FIELDS: Mapping[str, str] = {"task_timeout_ms": "budget"}


class CauseWords(NamedTuple):
    """Why a task needs review: a short name, and what happened."""

    name: Word
    told: Word


CAUSES: Mapping[str, CauseWords] = {
    Cause.LEASE_LOST: CauseWords(
        _("Lease lost"),
        _("The worker stopped renewing its lease: killed, hung or cut off."),
    ),
    Cause.TIMED_OUT: CauseWords(
        _("Timed out"),
        _("The attempt ran past its timeout and reported nothing."),
    ),
    Cause.DEADLINE: CauseWords(
        _("Deadline passed"),
        _("The task's deadline passed before anybody knew how it ended."),
    ),
    Cause.WORKER_UNSURE: CauseWords(
        _("Worker said unknown"),
        _("The worker itself said that it does not know what happened."),
    ),
    Cause.CANCELLED: CauseWords(
        _("Cancelled"),
        _("It was cancelled after an attempt had ended unknown."),
    ),
}

STATES: Mapping[str, Word] = {
    State.WAITING: _("Waiting"),
    State.RUNNING: _("Running"),
    State.NEEDS_REVIEW: _("Needs review"),
    State.SUCCEEDED: _("Succeeded"),
    State.FAILED: _("Failed"),
    State.CANCELLED: _("Cancelled"),
}

OUTCOMES: Mapping[str, Word] = {
    Outcome.ACTIVE: _("Running"),
    Outcome.SUCCEEDED: _("Ended: succeeded"),
    Outcome.FAILED: _("Ended: failed"),
    Outcome.UNKNOWN: _("Ended: outcome unknown"),
    Outcome.CANCELLED: _("Ended: stopped on request"),
}

REPORTS: Mapping[str, Word] = {
    ReportKind.SUCCEED: _("Late report: succeeded"),
    ReportKind.FAIL: _("Late report: failed"),
    ReportKind.UNKNOWN: _("Late report: outcome unknown"),
    ReportKind.CANCELLED: _("Late report: stopped on request"),
}

FINDINGS: Mapping[str, Word] = {
    Effect.APPLIED: _("Probe: it took effect"),
    Effect.NOT_APPLIED: _("Probe: it did not take effect"),
    Effect.UNKNOWN: _("Probe: it could not tell"),
}

BATCH_STATES: Mapping[str, Word] = {
    BatchState.CANARY: _("Settling the first ones"),
    BatchState.HELD: _("Waits for a person after the first ones"),
    BatchState.RUNNING: _("Running"),
    BatchState.PAUSED: _("Paused"),
    BatchState.DONE: _("Done"),
    BatchState.ABORTED: _("Aborted"),
}

BATCH_VERBS: Mapping[str, Word] = {
    "create": _("Created"),
    "hold": _("Waits after the first ones"),
    "continue": _("Let go on"),
    "pause": _("Paused"),
    "resume": _("Resumed"),
    "abort": _("Aborted"),
    "done": _("Done"),
}

ITEM_STATES: Mapping[str, Word] = {
    ItemState.PENDING: _("To do"),
    ItemState.SETTLED: _("Settled"),
    ItemState.TAKEN: _("Moved on before"),
    ItemState.REFUSED: _("Refused"),
    ItemState.ABORTED: _("Given up"),
}

STEERS: Mapping[str, Word] = {
    Steer.CONTINUE: _("Go on with the rest"),
    Steer.PAUSE: _("Pause"),
    Steer.RESUME: _("Resume"),
    Steer.ABORT: _("Abort"),
}

STARTED = _("Attempt started")
HEARTBEAT = _("Last heartbeat")
LEASE_END = _("Lease ran out")

OPERATIONS: Mapping[str, Word] = {
    "task.submit": _("Accepted"),
    "task.accept": _("Accepted"),
    "task.start": _("Started"),
    "task.succeed": _("Reported: succeeded"),
    "task.fail": _("Reported: failed"),
    "task.unknown": _("Reported: outcome unknown"),
    "task.cancelled": _("Reported: stopped"),
    "task.result": _("Reported"),
    "task.cancel": _("Cancel requested"),
    "task.lose": _("Lease taken back"),
    "task.expire": _("Deadline passed"),
    "task.open": _("Gate opened"),
    "task.probe": _("Probe started"),
    "task.propose": _("Decision proposed"),
    "task.withdraw": _("Proposal withdrawn"),
    "task.approve": _("Settled by two people"),
    "task.review": _("Settled by a person"),
    "task.retry": _("Run again by a person"),
}

EVENTS: Mapping[str, Word] = {
    "task.accepted": _("Event: accepted"),
    "task.needs_review": _("Event: needs review"),
    "task.succeeded": _("Event: succeeded"),
    "task.failed": _("Event: failed"),
    "task.cancelled": _("Event: cancelled"),
    "task.contradicted": _("Event: contradicted"),
}

SAFETY: Mapping[str, Word] = {
    "RECONCILE_ONLY": _("Ask a person"),
    "REPLAY_SAFE": _("Run again"),
}

FIELDS: Mapping[str, Word] = {
    "queue_id": _("Queue"),
    "handler": _("Handler"),
    "handler_version": _("Handler version"),
    "payload_version": _("Payload version"),
    "business_key": _("Business key"),
    "concurrency_key": _("Concurrency key"),
    "priority": _("Priority"),
    "recovery_safety": _("When the outcome is unknown"),
    "max_attempts": _("Most attempts"),
    "initial_delay_ms": _("First delay (ms)"),
    "max_delay_ms": _("Longest delay (ms)"),
    "attempt_timeout_ms": _("Attempt timeout (ms)"),
    "task_timeout_ms": _("Time budget (ms)"),
}

# What to do next when an act is refused, by the refusal's reason.
NEXT_STEPS: Mapping[str, Word] = {
    "STATE": _("There is nothing to decide here; the audit says who did what."),
    "REVISION": _("Look at the task again, then decide anew."),
    "GATE": _("Recover it through its owner."),
    "OWNER": _("Recover it through its owner."),
    "LEASE": _("Wait until the attempt ends or its lease runs out."),
    "SECOND_APPROVER": _("Propose it, so that another person can approve it."),
    "PROPOSED": _("Another person can approve it, or it is withdrawn first."),
    "PERMIT": _("Look again in a moment."),
    "EFFECT_UNCERTAIN": _("Settle it first."),
    "ALREADY_RETRIED": _("Go on from its successor."),
    "NO_PROBE": _("Look for the effect where it would be, then settle the task."),
    "PROBE_RUNNING": _("Wait for what it finds."),
}

_WHERE = r"\(line (?P<line>\d+), column (?P<column>\d+)\)"

# Refusals whose words contain a value: how they are written, and how they are told.
_WITH_VALUES = (
    (
        r"More than (?P<count>\d+) tasks\. .*",
        gettext_noop(
            "More than %(count)s tasks. Narrow the cause, or take several batches."
        ),
    ),
    (
        r"Choose no more than (?P<count>\d+) tasks\.",
        gettext_noop("Choose no more than %(count)s tasks."),
    ),
    (
        r"The task (?P<id>[0-9a-f]{32}) does not await a review in this queue\.",
        gettext_noop("The task %(id)s does not await a review in this queue."),
    ),
    (
        r"A batch that is \w+ cannot \w+; .*",
        gettext_noop("The batch has moved on: that cannot be done any more."),
    ),
    (
        r"The probe [0-9a-f]{32} awaits a review itself\. .*",
        gettext_noop("An earlier probe awaits a review itself: settle it first."),
    ),
    (
        r"The handler '(?P<handler>.*)' declares no probe\..*",
        gettext_noop("The handler “%(handler)s” declares no probe."),
    ),
    (
        r"The probe [0-9a-f]{32} is not finished\..*",
        gettext_noop("A probe of this task is not finished."),
    ),
    (
        r"Only a task in NEEDS_REVIEW can be reviewed; .*",
        gettext_noop("Only a task that needs review can be settled."),
    ),
    (
        r"Only a FAILED or CANCELLED task can be retried; .*",
        gettext_noop("Only a failed or cancelled task can run again."),
    ),
    (
        r"This queue wants two people for a review: .*",
        gettext_noop("This queue wants two people to settle a task."),
    ),
    (
        r"The review \w+ is proposed already: .*",
        gettext_noop("A decision is proposed already."),
    ),
    (
        r"This Idempotency-Key was used with other content\. .*",
        gettext_noop(
            "This form was sent before with other content, and that was done. Look at"
            " the task."
        ),
    ),
    (
        r"The queue is full\. .*",
        gettext_noop("The queue is full. Send this form again later."),
    ),
    (
        r"The application is full\. .*",
        gettext_noop("The application is full. Send this form again later."),
    ),
    (
        r"This is not the dossier that you decided on\. .*",
        gettext_noop("The task is not what it was when you opened this form."),
    ),
    (
        r"The task is at revision (?P<now>\d+), not (?P<then>\d+)\. .*",
        gettext_noop(
            "The task is at revision %(now)s, not %(then)s: decide on it anew."
        ),
    ),
    (
        r"(?P<count>\d+) late reports have arrived since you read the dossier\. .*",
        gettext_noop("Late reports that arrived since you opened this form: %(count)s"),
    ),
    (
        r"It has (?P<size>\d+) bytes of JSON; at most (?P<limit>\d+) are kept\. .*",
        gettext_noop("It has %(size)s bytes; at most %(limit)s are kept."),
    ),
    (
        r"The budget must cover one attempt: at least (?P<least>\d+) ms\.",
        gettext_noop("The budget must cover one attempt: at least %(least)s ms."),
    ),
    (
        rf"The JSON ends too early {_WHERE}\. .*",
        gettext_noop(
            "The JSON ends too early (line %(line)s, column %(column)s). Write the"
            " whole value."
        ),
    ),
    (
        rf"Something follows the JSON value {_WHERE}\. .*",
        gettext_noop(
            "Something follows the JSON value (line %(line)s, column %(column)s)."
        ),
    ),
    (
        rf"A comma has nothing after it {_WHERE}\. .*",
        gettext_noop(
            "A comma has nothing after it (line %(line)s, column %(column)s)."
        ),
    ),
    (
        rf"A key is not in double quotes {_WHERE}\. .*",
        gettext_noop(
            "A key is not in double quotes (line %(line)s, column %(column)s)."
        ),
    ),
    (
        rf"A JSON value is missing {_WHERE}\. .*",
        gettext_noop(
            "A JSON value is missing (line %(line)s, column %(column)s). Text needs"
            " double quotes; NaN and Infinity are no values."
        ),
    ),
    (
        r'The key "(?P<key>.*)" appears twice in one object .*',
        gettext_noop('The key "%(key)s" appears twice in one object.'),
    ),
    (
        r"(?:The (?:body|text) is not valid|A string |A \\u |The JSON is nested ).*",
        gettext_noop("This is not valid JSON."),
    ),
    (
        r"`\w+` is not acceptable: .*length (?P<rule><=|>=) (?P<limit>\d+).*",
        gettext_noop("This is too short or too long: %(rule)s %(limit)s characters."),
    ),
)

# Written by the actions in English; here so that a translation finds them.
TOLD = (
    gettext_noop("Say why, in words; blanks are not a reason."),
    gettext_noop(
        "This queue wants two people for each review: propose its tasks one by one."
    ),
    gettext_noop("No task of that cause awaits a review."),
    gettext_noop("A task is named twice."),
    gettext_noop("The tasks have changed meanwhile. Send it again."),
    gettext_noop("Whoever created the batch may not review any more."),
    gettext_noop("An error of Orbit's own."),
    gettext_noop(
        "Evidence arrived after the batch was created. Read it and decide on this "
        "task alone."
    ),
    gettext_noop("Give the view a name."),
    gettext_noop("This name is too long for a view."),
    gettext_noop("Filter the list first: this view would be all."),
    gettext_noop("You keep as many views as there may be: forget one first."),
    gettext_noop(
        "A reference has no white space and no control characters, for example "
        "evidence:reconciliation-001."
    ),
    gettext_noop("State the conclusion; null is not a result."),
    gettext_noop(
        "You submitted this task, and its queue wants somebody else to review "
        "it. Ask a reviewer who did not submit it."
    ),
    gettext_noop(
        "You proposed this review: another person must approve it. Ask another "
        "reviewer, or withdraw it."
    ),
    gettext_noop("The task waits behind a gate: its owner must open it."),
    gettext_noop("An attempt still holds the lease. Wait for it to end."),
    gettext_noop("A permit is not released yet. Ask again in a moment."),
    gettext_noop("The task has a successor already. Go on from the successor."),
    gettext_noop("The effect is uncertain: review it first."),
    gettext_noop("Nobody knows whether it took effect: review the task first."),
    gettext_noop("The task succeeded: there is nothing to retry."),
    gettext_noop("This task belongs to an owner: recover it through that owner."),
    gettext_noop("No execution of a job vouches for this task; nothing was changed."),
    gettext_noop("Run the job again: it creates a new execution."),
    gettext_noop("This time is more than 1 s in the past."),
    gettext_noop("The task would not be available before its deadline."),
    gettext_noop("This time is not after now."),
    gettext_noop("This time is before available_at."),
    gettext_noop("This time is after the task's deadline."),
)


def evidence_in_words(*, kind: str, content: str) -> Word:
    """What a late report or a probe says, shortly; its content is exact JSON text."""
    if kind != EVIDENCE_KIND:
        return REPORTS[kind]
    return FINDINGS[found_in(content).effect]


def in_words(message: str) -> str:
    """A message of the engine in the visitor's language."""
    return words.in_words(message, _WITH_VALUES)


def refusal_in_words(refusal: Refusal) -> str:
    """The refusal's message in the visitor's language; English if it has no other."""
    return words.refusal_in_words(refusal, _WITH_VALUES)
