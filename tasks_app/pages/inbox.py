"""The inbox: tasks whose outcome nobody knows, oldest first."""

from dataclasses import dataclass
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import urlencode

from orbit.errors import Refusal
from orbit.http.paging import Cursor
from orbit.ids import parse_id
from orbit.words import remaining
from tasks_app.actions.keep_inbox_view import (
    MAX_NAME,
    forget_inbox_view,
    keep_inbox_view,
)
from tasks_app.domain.causes import Cause
from tasks_app.models import InboxView
from tasks_app.pages import words
from tasks_app.pages.views import REVIEW, VIEW, ConsolePage
from tasks_app.queries import queue_places
from tasks_app.queries.inbox import (
    InboxFilter,
    InboxItem,
    InboxPosition,
    count_inbox,
    inbox,
    views_of,
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


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptView:
    """A view of the user's own, where it leads, and whether it is what is shown."""

    view: InboxView
    query: str
    is_shown: bool


class InboxPage(ConsolePage):
    """/admin/recovery/?queue=…&handler=…&cause=…: one page at a time."""

    permissions = (VIEW,)
    template = "tasks_app/inbox.html"

    def get(self, request: HttpRequest) -> HttpResponse:
        """One page of what needs review."""
        wanted = _filter(request.GET)
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
        queues = queue_places()
        views = [_kept(view, wanted) for view in views_of(self.user.pk)]
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
            views=views,
            shown_view=next((it.view for it in views if it.is_shown), None),
            max_name=MAX_NAME,
            is_filtered=wanted != InboxFilter(),
            filters=_query(wanted),
            filters_without_cause=_query(wanted, without="cause"),
            may_review=self.user.has_perm(REVIEW),
            causes=words.CAUSES.items(),
            queues=queues[:MOST_QUEUES],
            wants_two=any(it.wants_two for it in queues if it.id == wanted.queue_id),
        )


class KeepViewPage(ConsolePage):
    """POST /admin/recovery/views: keep the filters under a name."""

    permissions = (VIEW,)
    template = ""
    http_method_names = ["post"]

    def post(self, request: HttpRequest) -> HttpResponse:
        """Back to the inbox, narrowed as before."""
        wanted = _filter(request.POST)
        try:
            keep_inbox_view(
                owner_id=self.user.pk,
                name=request.POST.get("name", "").replace("\0", ""),
                queue_id=wanted.queue_id,
                handler=wanted.handler or "",
                cause=wanted.cause or "",
            )
        except Refusal as refusal:
            messages.error(request, words.refusal_in_words(refusal))
        return redirect(f"{reverse('recovery:inbox')}?{_query(wanted)}")


class ForgetViewPage(ConsolePage):
    """POST /admin/recovery/views/{view_id}/forget."""

    permissions = (VIEW,)
    template = ""
    http_method_names = ["post"]

    def post(self, request: HttpRequest, view_id: UUID) -> HttpResponse:  # noqa: ARG002
        """Back to the whole inbox."""
        forget_inbox_view(owner_id=self.user.pk, view_id=view_id)
        return redirect("recovery:inbox")


def _kept(view: InboxView, wanted: InboxFilter) -> KeptView:
    filters = InboxFilter(
        queue_id=view.queue_id,
        handler=view.handler or None,
        cause=Cause(view.cause) if view.cause else None,
    )
    return KeptView(view=view, query=_query(filters), is_shown=filters == wanted)


def _filter(sent: QueryDict) -> InboxFilter:
    handler = sent.get("handler", "").replace("\0", "").strip()[:200]
    cause = sent.get("cause", "")
    if cause and cause not in set(Cause):
        raise Http404
    return InboxFilter(
        queue_id=_queue(sent.get("queue", "")),
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
