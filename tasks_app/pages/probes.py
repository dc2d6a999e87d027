"""Have it looked up whether a task took effect: the button, and what came of it."""

from dataclasses import dataclass
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext

from orbit.errors import Refusal
from orbit.ids import new_id
from orbit.words import Word
from tasks_app.actions.start_probe import start_probe
from tasks_app.domain.access import Reach
from tasks_app.domain.idempotency import identify
from tasks_app.domain.lifecycle import FINAL, State
from tasks_app.pages import words
from tasks_app.pages.offers import Offer, refused
from tasks_app.pages.views import REVIEW, VIEW, ConsolePage
from tasks_app.queries.probes import ProbeGlance, probes_of, why_not_probed

SHOWN = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class ToldProbe:
    """A probe, and in words how its own task stands."""

    glance: ProbeGlance
    state: Word
    is_open: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Probes:
    """The newest probes of a task, and whether another may be started."""

    items: list[ToldProbe]
    refusal: Offer | None
    form_key: str


def probes_seen(reach: Reach, task_id: UUID) -> Probes:
    """What a task's page tells of its probes; raises TaskNotFound."""
    refusal = why_not_probed(task_id, reach=reach)
    return Probes(
        items=[
            ToldProbe(
                glance=it,
                state=words.STATES[it.state],
                is_open=State(it.state) not in FINAL,
            )
            for it in probes_of(task_id, limit=SHOWN)
        ],
        refusal=None if refusal is None else refused(refusal),
        form_key=new_id().hex,
    )


class ProbePage(ConsolePage):
    """POST /admin/recovery/tasks/{task_id}/probe."""

    permissions = (VIEW, REVIEW)
    http_method_names = ["post"]

    def post(self, request: HttpRequest, task_id: UUID) -> HttpResponse:
        """Back to the task, where the probe is shown."""
        try:
            identity = identify(key=request.POST.get("form_key", ""), content=b"{}")
            start_probe(
                task_id=task_id,
                identity=identity,
                actor=self.actor,
                reach=self.reach_of(task_id),
            )
        except Refusal as refusal:
            messages.error(request, words.refusal_in_words(refusal))
        else:
            messages.success(
                request, gettext("It is being looked up. The finding appears here.")
            )
        return redirect("recovery:task", task_id)
