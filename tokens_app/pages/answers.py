"""The status codes of both APIs as a caller meets them, and what to do on each."""

from collections.abc import Mapping
from typing import NamedTuple

from django.utils.translation import gettext_lazy as _

from orbit.words import Word
from tokens_app.domain.scope import Audience


class Answer(NamedTuple):
    """One status code."""

    status: str
    meaning: Word
    what_to_do: Word


_MALFORMED = Answer(
    "400",
    _("The request is malformed."),
    _("Correct what the message names. Sending it again unchanged cannot help."),
)
_TOKEN = Answer(
    "401",
    _("The token is missing, wrong, expired, suspended or revoked."),
    _("Stop calling. Look the token up here, or ask its contact."),
)
_BUSY = Answer(
    "429",
    _("Too many calls."),
    _("Wait for as long as Retry-After says; then the same call works."),
)

ANSWERS: Mapping[str, tuple[Answer, ...]] = {
    Audience.OPEN_JOBS: (
        Answer("200, 202", _("It worked."), _("Go on. 202: the execution is kept.")),
        _MALFORMED,
        _TOKEN,
        Answer(
            "403",
            _("A scope is missing, or the job is outside the token's range."),
            _("Ask for the scope or the job. Repeating cannot help."),
        ),
        Answer(
            "404",
            _("The job was deleted, or there is no such execution in the range."),
            _("Check the id."),
        ),
        Answer(
            "409",
            _("The job cannot be started now, or the key is in use."),
            _("Read the message. With Retry-After: repeat with the same key."),
        ),
        _BUSY,
        Answer(
            "503",
            _("A part that Orbit needs is down. Nothing was started twice."),
            _("Repeat with the same key until the answer is clear."),
        ),
    ),
    Audience.TASKS: (
        Answer("200, 201", _("It worked."), _("Go on.")),
        _MALFORMED,
        _TOKEN,
        Answer(
            "403",
            _("A scope is missing."),
            _("Ask for the scope. Repeating cannot help."),
        ),
        Answer(
            "404",
            _("There is no such thing in the token's range."),
            _("Check the id, and the token's queues."),
        ),
        Answer(
            "409",
            _("The state forbids it, or the key was used for another request."),
            _("Read the task again and decide anew."),
        ),
        _BUSY,
        Answer(
            "503",
            _("A part that Orbit needs is down; the outcome may be kept."),
            _("Repeat with the same key until the answer is clear."),
        ),
    ),
}
