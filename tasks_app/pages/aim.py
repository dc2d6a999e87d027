"""What an address aims at: the tasks of a queue that one decision is for."""

from typing import NamedTuple
from uuid import UUID

import msgspec
from django.http import Http404, HttpRequest
from django.utils.http import urlencode
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from orbit.ids import parse_id
from orbit.words import Word
from tasks_app.domain.batches import MAX_AGE_MS, ChosenBy
from tasks_app.domain.causes import Cause
from tasks_app.pages import words
from tasks_app.queries import QueuePlace, queue_places
from tasks_app.queries.inbox import InboxFilter

MINUTE_MS = 60_000
MAX_MINUTES = MAX_AGE_MS // MINUTE_MS


class Narrowed(NamedTuple):
    """By which error code and ages tasks are chosen; None leaves a member open."""

    code: str | None
    min_minutes: int | None
    max_minutes: int | None

    @property
    def is_open(self) -> bool:
        """Whether anything narrows the choice."""
        return any(it is not None for it in self)


def aim_of(request: HttpRequest) -> tuple[InboxFilter, QueuePlace]:
    """The queue, and what its tasks must have in common; strictly read."""
    queue_id = parse_id(request.GET.get("queue", ""))
    place = place_of(queue_id) if queue_id else None
    cause = request.GET.get("cause", "")
    if place is None or (cause and cause not in set(Cause)):
        raise Http404
    wanted = InboxFilter(
        queue_id=place.id,
        handler=_text(request, "handler", most=200),
        cause=Cause(cause) if cause else None,
        error_code=_text(request, "code", most=100),
        min_age_ms=_minutes(request, "min_minutes"),
        max_age_ms=_minutes(request, "max_minutes"),
    )
    return wanted, place


def query_of(wanted: InboxFilter) -> str:
    """The same as the query of an address."""
    members = {
        "queue": wanted.queue_id and wanted.queue_id.hex,
        "handler": wanted.handler,
        "cause": wanted.cause,
        **narrowed(wanted)._asdict(),
    }
    return urlencode({n: v for n, v in members.items() if v is not None})


def narrowed(wanted: InboxFilter) -> Narrowed:
    """What the inbox has no filter for, as the page shows it."""
    ages = (wanted.min_age_ms, wanted.max_age_ms)
    least, most = (None if age is None else age // MINUTE_MS for age in ages)
    return Narrowed(code=wanted.error_code, min_minutes=least, max_minutes=most)


def aim_in_words(chosen_by: str) -> list[tuple[Word, Word | int]]:
    """How the tasks of a batch were chosen, from its exact JSON text."""
    chosen = msgspec.json.decode(chosen_by, type=ChosenBy)
    if chosen.by_hand:
        return [(_("Chosen"), _("one by one"))]
    ages = (chosen.min_age_ms, chosen.max_age_ms)
    least, most = (None if age is None else age // MINUTE_MS for age in ages)
    told: list[tuple[Word, Word | int | None]] = [
        (_("Handler"), chosen.handler),
        (_("Why it is here"), chosen.cause and words.CAUSES[chosen.cause].name),
        (_("Error code, exactly"), chosen.error_code),
        (_("Waiting at least, in minutes"), least),
        (_("Waiting at most, in minutes"), most),
    ]
    return [(name, it) for name, it in told if it is not None]


def place_of(queue_id: UUID) -> QueuePlace | None:
    """The queue among its names, or None without it."""
    return next((it for it in queue_places() if it.id == queue_id), None)


def place_name(place: QueuePlace | None) -> str:
    """A queue by the names of its application and its own."""
    return f"{place.application} / {place.name}" if place else gettext("deleted")


def _text(request: HttpRequest, name: str, *, most: int) -> str | None:
    return request.GET.get(name, "").replace("\0", "").strip()[:most] or None


def _minutes(request: HttpRequest, name: str) -> int | None:
    text = request.GET.get(name, "")
    if not text:
        return None
    is_number = text.isascii() and text.isdigit() and len(text) <= len(str(MAX_MINUTES))
    if not is_number or int(text) > MAX_MINUTES:
        raise Http404
    return int(text) * MINUTE_MS
