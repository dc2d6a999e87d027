"""The words of the samples, here so that a translation finds them."""

from django.utils.translation import gettext_noop

TOLD = (
    gettext_noop("Try the token"),
    gettext_noop("Shows its scopes, its range, its expiry and its quota."),
    gettext_noop("List the jobs"),
    gettext_noop(
        "Shows the jobs in the token's range, and which of them can be started."
    ),
    gettext_noop("Look at a job"),
    gettext_noop("Shows one job with its next run and its last execution."),
    gettext_noop("Start a job"),
    gettext_noop(
        "Answers the execution's id. Repeat an unclear answer with the same key: it"
        " never happens twice."
    ),
    gettext_noop("Follow an execution"),
    gettext_noop("Answers as soon as it is settled, or after 20 seconds."),
    gettext_noop("List a job's executions"),
    gettext_noop("Shows the newest first."),
    gettext_noop("Submit a task"),
    gettext_noop(
        "Answers the task's id. Repeat an unclear answer with the same key: it never"
        " happens twice."
    ),
    gettext_noop("Submit a task of a workflow"),
    gettext_noop(
        "The workflow owns the task and decides on reviews. Repeat an unclear answer"
        " with the same key: it never happens twice."
    ),
    gettext_noop("List tasks"),
    gettext_noop("Look at a task"),
    gettext_noop("Shows its state, its revision and its result."),
    gettext_noop("Cancel a task"),
    gettext_noop(
        "Ends a waiting task and asks a running one to stop. Repeat an unclear answer"
        " with the same key: it never happens twice."
    ),
    gettext_noop("Claim a task"),
    gettext_noop("Leases a task to this worker; keep attempt_id and lease_token."),
    gettext_noop("Keep the lease"),
    gettext_noop("Extends it, and says whether to stop."),
    gettext_noop("Report success"),
    gettext_noop("Ends the attempt with its result."),
    gettext_noop("Settle an uncertain task"),
    gettext_noop(
        "Say what happened and where that can be seen. Repeat an unclear answer with"
        " the same key: it never happens twice."
    ),
    gettext_noop("Run a final task again"),
    gettext_noop(
        "Creates a new task that is linked to this one. Repeat an unclear answer with"
        " the same key: it never happens twice."
    ),
    gettext_noop("Read a task's audit"),
    gettext_noop("Shows who did what to it, and why."),
    gettext_noop("Follow the events"),
    gettext_noop("Go on with the next_cursor of each answer."),
)
