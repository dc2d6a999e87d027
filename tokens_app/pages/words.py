"""What the pages say about tokens, in the visitor's language."""

from collections.abc import Mapping

from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop

from orbit import words
from orbit.errors import Refusal
from orbit.words import Word
from tokens_app.domain.scope import Audience

# Where a refusal of the actions stands in the forms of the pages.
FORM_FIELDS: Mapping[str, str] = {"expires": "lifetime"}

AUDIENCES: Mapping[str, Word] = {
    Audience.OPEN_JOBS: _("Open job API"),
    Audience.TASKS: _("Task API"),
}

FILTERS: Mapping[str, Word] = {
    "all": _("All"),
    "active": _("Active"),
    "expiring": _("Expiring in 14 days"),
    "never_used": _("Never used"),
    "unused": _("Unused for 90 days"),
    "suspended": _("Suspended"),
    "expired": _("Expired"),
    "revoked": _("Revoked"),
}

SCOPES: Mapping[str, Word] = {
    "jobs:read": _("See the jobs in its range, and whether each can be started."),
    "jobs:trigger": _("Start the jobs in its range. Parameters cannot be changed."),
    "executions:read": _("Follow the executions of the jobs in its range."),
    "tasks:submit": _("Submit new tasks to its queues."),
    "tasks:read": _("See tasks, their state and their result."),
    "tasks:cancel": _("Cancel tasks that are not final."),
    "tasks:work": _("Take tasks from its queues and report how they ended."),
    "tasks:review": _("Settle tasks whose outcome is unknown."),
    "tasks:retry": _("Run final tasks again."),
    "tasks:audit:read": _("Read who did what to a task, and why."),
    "tasks:own": _("Submit tasks that a workflow owns and decides on."),
    "events:read": _("Follow the feed of results."),
}

MEMBERS: Mapping[str, Word] = {
    "name": _("Name"),
    "description": _("Description"),
    "owner_contact": _("Contact"),
    "audience": _("For"),
    "namespace_id": _("Namespace"),
    "application_id": _("Application"),
    "scopes": _("Scopes"),
    "queue_ids": _("Queues"),
    "job_ids": _("Jobs"),
    "job_groups": _("Groups"),
    "expires_at": _("Expires"),
    "reads_per_minute": _("Reads per minute"),
    "triggers_per_minute": _("Starts per minute"),
    "rotation_count": _("Rotation"),
    "reason": _("Reason"),
    "overlap_seconds": _("Overlap in seconds"),
}

# Refusals whose words contain a value: how they are written, and how they are told.
_WITH_VALUES = (
    (
        r"A token may live (?P<days>\d+) days at most; choose an earlier expiry\.",
        gettext_noop(
            "A token may live %(days)s days at most; choose an earlier expiry."
        ),
    ),
    (
        r"Use at most (?P<limit>\d+) characters, none of them NUL\.",
        gettext_noop("Use at most %(limit)s characters, none of them NUL."),
    ),
    (r"Name at most (?P<limit>\d+)\.", gettext_noop("Name at most %(limit)s.")),
    (
        r"Choose at least one scope: (?P<scopes>.*)\.",
        gettext_noop("Choose at least one scope: %(scopes)s."),
    ),
    (
        r"\w+ tokens have no scope '(?P<scope>.*)'; choose from (?P<scopes>.*)\.",
        gettext_noop("There is no scope %(scope)s here; choose from %(scopes)s."),
    ),
)

# Written by the actions in English; here so that a translation finds them.
TOLD = (
    gettext_noop("Name the caller this token is for."),
    gettext_noop("Say why, in at most 1024 characters."),
    gettext_noop("The expiry must lie in the future."),
    gettext_noop("Give the expiry a time zone."),
    gettext_noop("An empty range reaches nothing; choose at least one job or group."),
    gettext_noop("An empty range reaches nothing; choose at least one queue."),
    gettext_noop("Allow 1 to 100000 calls a minute."),
    gettext_noop("Let the old secret live on for 0, 1 h, 24 h or 7 d."),
    gettext_noop("A leaked secret must die at once; choose no overlap."),
    gettext_noop("A revoked or expired token stays so; issue another."),
    gettext_noop("A revoked token stays revoked; issue another."),
    gettext_noop("Somebody changed this token since; look at it again, then repeat."),
    gettext_noop("This token was rotated since; use that secret, or look again first."),
    gettext_noop(
        "This form was sent before and issued its token, whose secret was shown then."
        " Rotate that token if the secret is lost."
    ),
    gettext_noop(
        "You may not grant any of this: it does not exist here, or you lack the right"
        " to use it yourself."
    ),
    gettext_noop("You logged in more than 15 minutes ago; give your password again."),
    gettext_noop("This is not your password; try again."),
)


def refusal_in_words(refusal: Refusal) -> str:
    """The refusal's message in the visitor's language; English if it has no other."""
    return words.refusal_in_words(refusal, _WITH_VALUES)
