"""Run a failed or cancelled task again: the form, and the new task followed live."""

from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext

from orbit import clock
from orbit.errors import Refusal
from orbit.ids import new_id
from tasks_app.actions.retry_task import retry_task
from tasks_app.domain.access import Reach
from tasks_app.domain.errors import StateConflict
from tasks_app.models.record import TaskRecord
from tasks_app.pages import words
from tasks_app.pages.forms import RetryForm, budget_of
from tasks_app.pages.offers import Offer, offer_retry
from tasks_app.pages.task import Glance, glance_at
from tasks_app.pages.texts import payload_excerpt
from tasks_app.pages.views import RETRY, VIEW, ConsolePage, add_refusal
from tasks_app.queries import task_within


class RetryPage(ConsolePage):
    """/admin/recovery/tasks/{task_id}/retry."""

    permissions = (VIEW, RETRY)
    template = "tasks_app/retry.html"

    def get(self, request: HttpRequest, task_id: UUID) -> HttpResponse:  # noqa: ARG002
        """The form; once it was sent, the new task and how it goes."""
        reach = self.reach_of(task_id)
        task = task_within(reach, task_id)
        budget, unit = budget_of(_budget_ms(task))
        form = RetryForm(
            initial={
                "form_key": new_id().hex,
                "expected_revision": task.revision,
                "budget": budget,
                "budget_unit": unit,
                "zone": "UTC",
            }
        )
        return self._page(task, form, reach=reach)

    def post(self, request: HttpRequest, task_id: UUID) -> HttpResponse:
        """On to the new task's progress; else the form with what is wrong."""
        reach = self.reach_of(task_id)
        form = RetryForm(request.POST)
        if not form.is_valid():
            return self._page(task_within(reach, task_id), form, reach=reach)
        try:
            answered = retry_task(
                form.command(),
                task_id=task_id,
                identity=form.identity(),
                actor=self.actor,
                reach=reach,
            )
        except StateConflict as conflict:
            return self._differing(form, conflict, task_id=task_id, reach=reach)
        except Refusal as refusal:
            add_refusal(form, refusal)
            return self._page(task_within(reach, task_id), form, reach=reach)
        messages.success(
            request,
            gettext("This form was sent before; the task was run again once.")
            if answered.deduplicated
            else gettext("Accepted as a new task."),
        )
        return self.go_to(reverse("recovery:retry", args=[task_id]))

    def _differing(
        self, form: RetryForm, conflict: StateConflict, *, task_id: UUID, reach: Reach
    ) -> HttpResponse:
        """What was typed, bound to the task as it is now."""
        task = task_within(reach, task_id)
        typed = {**form.typed, "safe_to_retry": False}
        form = RetryForm(initial={**typed, "expected_revision": task.revision})
        return self._page(task, form, reach=reach, conflict=conflict)

    def _page(
        self,
        task: TaskRecord,
        form: RetryForm,
        *,
        reach: Reach,
        conflict: StateConflict | None = None,
    ) -> HttpResponse:
        offer = offer_retry(task, actor=self.actor, reach=reach)
        return self.page(
            glance=glance_at(task, now=clock.now()),
            form=form,
            offer=offer,
            conflict=conflict and words.refusal_in_words(conflict),
            payload=payload_excerpt(task),
            safety=words.SAFETY[task.recovery_safety],
            child=_child(offer, reach),
        )


def _child(offer: Offer, reach: Reach) -> Glance | None:
    if offer.successor_id is None:
        return None
    return glance_at(task_within(reach, offer.successor_id), now=clock.now())


def _budget_ms(task: TaskRecord) -> int:
    """The budget that the task itself had."""
    return round((task.deadline_at - task.created_at).total_seconds() * 1_000)
