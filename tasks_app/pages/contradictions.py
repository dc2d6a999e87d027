"""Late reports that disagree with an outcome: each is a decision to look at again."""

from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse

from orbit.http.paging import Cursor
from orbit.words import Word
from tasks_app.models import Contradiction
from tasks_app.pages import words
from tasks_app.pages.namespaces import namespaces_of
from tasks_app.pages.views import VIEW, ConsolePage
from tasks_app.queries import Position
from tasks_app.queries.contradictions import contradictions_within, names_of_tasks

SHOWN = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Disagreement:
    """A late report against the outcome that its task has; `name` is the task's."""

    record: Contradiction
    name: str
    declared: Word
    claimed: Word


def disagreements(found: list[Contradiction]) -> list[Disagreement]:
    """How each is told; one statement for the names of all."""
    names = names_of_tasks({it.task_id for it in found})
    return [
        Disagreement(
            record=it,
            name=names.get(it.task_id, it.task_id.hex),
            declared=words.STATES[it.declared],
            claimed=words.STATES[it.claimed],
        )
        for it in found
    ]


class ContradictionListPage(ConsolePage):
    """/admin/recovery/contradictions, of one namespace, the newest first."""

    permissions = (VIEW,)
    template = "tasks_app/contradiction_list.html"
    tab = "recovery:contradictions"

    def get(self, request: HttpRequest) -> HttpResponse:
        """One page of them."""
        namespaces = namespaces_of(request)
        if namespaces.reach is None:
            return self.page(namespaces=namespaces)
        cursor = Cursor("console", namespaces.reach.namespace_id, "contradictions")
        after = request.GET.get("after")
        found = contradictions_within(
            namespaces.reach,
            after=cursor.read(after, Position) if after else None,
            limit=SHOWN,
        )
        shown = found[:SHOWN]
        last = shown[-1] if len(found) > SHOWN else None
        return self.page(
            namespaces=namespaces,
            rows=disagreements(shown),
            next=cursor.sign((last.created_at, last.id)) if last else None,
            is_first_page=not after,
        )
