"""The inbox: tasks whose outcome nobody knows, oldest first."""

from dataclasses import dataclass
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.utils.http import urlencode

from orbit.http.paging import Cursor
from orbit.ids import parse_id
from orbit.words import remaining
from tasks_app.domain.causes import Cause
from tasks_app.pages import words
from tasks_app.pages.views import REVIEW, VIEW, ConsolePage
from tasks_app.queries import queue_places
from tasks_app.queries.inbox import (
    InboxFilter,
    InboxItem,
    InboxPosition,
    count_inbox,
    inbox,
)

SHOWN = 50
MOST_QUEUES = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A task in the list, with its age and numbers in words."""

    task: InboxItem
    age: str
    room: str
    cause: words.CauseWords


class InboxPage(ConsolePage):
    """/admin/recovery/?queue=…&handler=…&cause=…: one page at a time."""

    permissions = (VIEW,)
    template = "tasks_app/inbox.html"

    def get(self, request: HttpRequest) -> HttpResponse:
        """One page of what needs review."""
        wanted = _filter(request)
        cursor = Cursor("inbox", self.user.pk, "recovery.inbox")
        after = request.GET.get("after")
        found = inbox(
            wanted,
            after=cursor.read(after, InboxPosition) if after else None,
            limit=SHOWN,
        )
        counted = count_inbox(wanted)
        shown = found[:SHOWN]
        last = shown[-1] if len(found) > SHOWN else None
        return self.page(
            rows=[
                Row(
                    task=task,
                    age=remaining(task.since, now=counted.now),
                    room=f"{task.room:,}",
                    cause=words.CAUSES[task.cause],
                )
                for task in shown
            ],
            next=cursor.sign((last.since, last.id)) if last else None,
            is_first_page=not after,
            counted=counted,
            oldest=remaining(counted.oldest, now=counted.now) if counted.oldest else "",
            wanted=wanted,
            is_filtered=wanted != InboxFilter(),
            filters=_query(wanted),
            filters_without_cause=_query(wanted, without="cause"),
            may_review=self.user.has_perm(REVIEW),
            causes=words.CAUSES.items(),
            queues=queue_places()[:MOST_QUEUES],
        )


def _filter(request: HttpRequest) -> InboxFilter:
    handler = request.GET.get("handler", "").replace("\0", "").strip()[:200]
    cause = request.GET.get("cause", "")
    if cause and cause not in set(Cause):
        raise Http404
    return InboxFilter(
        queue_id=_queue(request.GET.get("queue", "")),
        handler=handler or None,
        cause=Cause(cause) if cause else None,
    )


def _queue(text: str) -> UUID | None:
    if not text:
        return None
    found = parse_id(text)
    if found is None:
        raise Http404
    return found


def _query(wanted: InboxFilter, *, without: str = "") -> str:
    members = {
        "queue": wanted.queue_id and wanted.queue_id.hex,
        "handler": wanted.handler,
        "cause": wanted.cause,
    }
    return urlencode({n: v for n, v in members.items() if v and n != without})
