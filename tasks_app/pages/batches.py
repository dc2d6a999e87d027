"""Batches of reviews: their list, a new one, one of them, and its export."""

from dataclasses import dataclass
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils.translation import gettext

from orbit import clock
from orbit.errors import Refusal
from orbit.http.paging import Cursor
from orbit.ids import new_id
from orbit.tables import comma_separated, json_lines
from orbit.words import Word, remaining
from tasks_app.actions.create_review_batch import create_review_batch
from tasks_app.actions.steer_review_batch import steer_review_batch
from tasks_app.domain.access import ENGINE_ID, ActorKind, Reach
from tasks_app.domain.batches import (
    MAX_ITEMS,
    RUNS,
    STEERED,
    BatchState,
    ItemState,
    Steer,
)
from tasks_app.models import ReviewBatch, ReviewBatchEvent
from tasks_app.pages import words
from tasks_app.pages.aim import (
    MAX_MINUTES,
    aim_in_words,
    aim_of,
    narrowed,
    place_name,
    place_of,
    query_of,
)
from tasks_app.pages.forms import BatchForm
from tasks_app.pages.views import REVIEW, VIEW, ConsolePage, add_refusal
from tasks_app.queries import Position, QueuePlace, queue_places
from tasks_app.queries.batches import (
    BatchDetail,
    batch_detail,
    batch_items,
    batches,
    exported_items,
    namespace_of_batch,
)
from tasks_app.queries.inbox import InboxFilter, InboxItem, count_inbox, inbox
from tasks_app.queries.people import user_names

SHOWN = 50
GLIMPSE = 5
EXPORTS = {"csv": "text/csv; charset=utf-8", "jsonl": "application/jsonl"}
COLUMNS = (
    *("position", "task_id", "expected_revision", "state", "code", "message"),
    *("audit_id", "finished_at"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchRow:
    """A batch in the list."""

    batch: ReviewBatch
    state: str
    queue: str
    age: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """How many items are in a state, and what part of all that is, in thousandths."""

    state: ItemState
    told: Word
    count: int
    start: int
    width: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """Where a batch stands."""

    told: Word
    counts: list[Count]
    is_running: bool
    is_held: bool


class BatchPage(ConsolePage):
    """The ground of the pages of batches."""

    tab = "recovery:batches"

    @staticmethod
    def reach_of_batch(batch_id: UUID) -> Reach:
        """Every queue of the batch's namespace; raises BatchNotFound."""
        return Reach(namespace_id=namespace_of_batch(batch_id), queue_ids=None)


class BatchListPage(BatchPage):
    """/admin/recovery/batches: newest first."""

    permissions = (VIEW,)
    template = "tasks_app/batches.html"

    def get(self, request: HttpRequest) -> HttpResponse:
        """One page of batches."""
        cursor = Cursor("batches", self.user.pk, "recovery.batches")
        after = request.GET.get("after")
        found = batches(
            after=cursor.read(after, Position) if after else None, limit=SHOWN
        )
        shown, now = found[:SHOWN], clock.now()
        places = {it.id: it for it in queue_places()}
        last = shown[-1] if len(found) > SHOWN else None
        return self.page(
            rows=[
                BatchRow(
                    batch=batch,
                    state=str(words.BATCH_STATES[batch.state]),
                    queue=place_name(places.get(batch.queue_id)),
                    age=remaining(batch.created_at, now=now),
                )
                for batch in shown
            ],
            next=cursor.sign((last.created_at, last.id)) if last else None,
            is_first_page=not after,
        )


class NewBatchPage(BatchPage):
    """/admin/recovery/batches/new, for the queue, handler and cause of its query."""

    permissions = (VIEW, REVIEW)
    template = "tasks_app/batch_new.html"

    def get(self, request: HttpRequest) -> HttpResponse:
        """The form, and what of the cause waits now."""
        wanted, place = aim_of(request)
        return self._page(
            wanted, place, BatchForm(initial={"form_key": new_id().hex, "canary": 3})
        )

    def post(self, request: HttpRequest) -> HttpResponse:
        """On to the new batch; else the form with what is wrong."""
        wanted, place = aim_of(request)
        form = BatchForm(request.POST)
        if not form.is_valid():
            return self._page(wanted, place, form)
        try:
            batch_id = create_review_batch(
                form.draft(wanted, queue_id=place.id),
                form_key=form.cleaned_data["form_key"],
                actor=self.actor,
                reach=Reach(namespace_id=place.namespace_id, queue_ids=None),
            )
        except Refusal as refusal:
            add_refusal(form, refusal)
            return self._page(wanted, place, form)
        return self.go_to(reverse("recovery:batch", args=[batch_id]))

    def _page(
        self, wanted: InboxFilter, place: QueuePlace, form: BatchForm
    ) -> HttpResponse:
        counted = count_inbox(wanted)
        glimpse: list[InboxItem] = inbox(wanted, after=None, limit=GLIMPSE)[:GLIMPSE]
        return self.page(
            form=form,
            counted=counted,
            glimpse=glimpse,
            queue=place_name(place),
            wants_two=place.wants_two,
            wanted=wanted,
            cause=words.CAUSES[wanted.cause] if wanted.cause else None,
            narrowed=narrowed(wanted),
            back=query_of(wanted),
            most=MAX_ITEMS,
            most_minutes=MAX_MINUTES,
        )


class BatchDetailPage(BatchPage):
    """/admin/recovery/batches/{batch_id}: the decision, and a page of its items."""

    permissions = (VIEW,)
    template = "tasks_app/batch.html"

    def get(self, request: HttpRequest, batch_id: UUID) -> HttpResponse:
        """The decision, the counts, and one page of its items."""
        reach = self.reach_of_batch(batch_id)
        detail = batch_detail(reach, batch_id)
        state = request.GET.get("state", "")
        if state and state not in set(ItemState):
            raise Http404
        found = batch_items(
            batch_id,
            states=(ItemState(state),) if state else (),
            after=_position(request.GET.get("after", "0")),
            limit=SHOWN,
        )
        batch = detail.batch
        return self.page(
            batch=batch,
            chosen_by=aim_in_words(batch.cause),
            events=_told(detail.events),
            queue=place_name(place_of(batch.queue_id)),
            items=[
                (item, words.ITEM_STATES[item.state], _why(item.message))
                for item in found[:SHOWN]
            ],
            next=found[SHOWN - 1].position if len(found) > SHOWN else None,
            state=state,
            steers=[
                (steer, words.STEERS[steer])
                for steer in Steer
                if BatchState(batch.state) in STEERED[steer]
            ],
            may_steer=self.user.has_perm(REVIEW),
            has_exports=any(detail.counts[it] for it in EXPORTED),
            exported=",".join(EXPORTED),
            progress=progress_of(detail),
        )


class BatchProgress(BatchPage):
    """/admin/recovery/batches/{batch_id}/progress: asked again while it runs."""

    permissions = (VIEW,)
    template = "tasks_app/batch_progress.html"

    def get(self, request: HttpRequest, batch_id: UUID) -> HttpResponse:  # noqa: ARG002
        """State and counts, as they are now."""
        detail = batch_detail(self.reach_of_batch(batch_id), batch_id)
        return self.page(batch=detail.batch, progress=progress_of(detail))


class BatchSteer(BatchPage):
    """POST /admin/recovery/batches/{batch_id}/{steer}."""

    permissions = (VIEW, REVIEW)
    template = "tasks_app/batch.html"
    http_method_names = ["post"]

    def post(self, request: HttpRequest, batch_id: UUID, steer: str) -> HttpResponse:
        """Back to the batch, with a word about what it does now."""
        if steer not in set(Steer):
            raise Http404
        try:
            state = steer_review_batch(
                Steer(steer),
                batch_id=batch_id,
                actor=self.actor,
                reach=self.reach_of_batch(batch_id),
            )
        except Refusal as refusal:
            messages.error(request, words.refusal_in_words(refusal))
        else:
            messages.success(request, str(words.BATCH_STATES[state]))
        return self.go_to(reverse("recovery:batch", args=[batch_id]))


# What somebody has to look at again.
EXPORTED = (ItemState.TAKEN, ItemState.REFUSED, ItemState.ABORTED)


class BatchExport(BatchPage):
    """/admin/recovery/batches/{batch_id}/items.csv and .jsonl."""

    permissions = (VIEW,)
    template = ""

    def get(
        self,
        request: HttpRequest,  # noqa: ARG002
        batch_id: UUID,
        form: str,
    ) -> HttpResponseBase:
        """The items that were not settled, as a file."""
        self.reach_of_batch(batch_id)
        if form not in EXPORTS:
            raise Http404
        found = exported_items(batch_id, states=EXPORTED)
        lines = (
            comma_separated(found, columns=COLUMNS)
            if form == "csv"
            else json_lines(found)
        )
        return StreamingHttpResponse(
            lines,
            content_type=EXPORTS[form],
            headers={
                "Content-Disposition": "attachment; filename="
                f'"review-batch-{batch_id.hex}.{form}"'
            },
        )


def progress_of(detail: BatchDetail) -> Progress:
    """The counts, and how they lie beside each other in a bar of a thousand."""
    total, start, counts = max(1, detail.batch.total), 0, []
    for item_state, count in detail.counts.items():
        left, right = (round(1000 * it / total) for it in (start, start + count))
        counts.append(
            Count(
                state=item_state,
                told=words.ITEM_STATES[item_state],
                count=count,
                start=left,
                width=right - left,
            )
        )
        start += count
    state = BatchState(detail.batch.state)
    return Progress(
        told=words.BATCH_STATES[state],
        counts=counts,
        is_running=state in RUNS,
        is_held=state is BatchState.HELD,
    )


def _told(events: list[ReviewBatchEvent]) -> list[tuple[Word, str, ReviewBatchEvent]]:
    people = {it.actor_id for it in events if it.actor_kind == ActorKind.USER}
    names = {**user_names(people), ENGINE_ID: gettext("Orbit itself")}
    return [
        (words.BATCH_VERBS[it.verb], names.get(it.actor_id, it.actor_id.hex), it)
        for it in events
    ]


def _position(text: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > len(str(MAX_ITEMS)):
        raise Http404
    return int(text)


def _why(message: str) -> str:
    return words.in_words(message) if message else ""
