"""Settle a task whose outcome nobody knows: the form, and what it met."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext

from orbit.errors import Refusal
from orbit.ids import new_id, parse_id
from tasks_app.actions.propose_review import propose_review
from tasks_app.actions.review_task import review_task
from tasks_app.domain.access import Reach
from tasks_app.domain.errors import ReviewNotAllowed, StateConflict
from tasks_app.domain.probes import EVIDENCE_KIND, found_in
from tasks_app.pages import words
from tasks_app.pages.forms import ReviewForm
from tasks_app.pages.offers import offer_review
from tasks_app.pages.proposals import open_proposal_of
from tasks_app.pages.story import LateReport
from tasks_app.pages.task import Seen, see
from tasks_app.pages.views import REVIEW, VIEW, VIEW_AUDIT, ConsolePage, add_refusal
from tasks_app.queries.previews import Preview, preview_of_review


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """What changed between the opening of the form and its sending.

    `new_reports` are None when they cannot be told apart from what was seen.
    """

    revision_then: str
    new_reports: Sequence[LateReport] | None
    is_settled: bool


class ReviewPage(ConsolePage):
    """/admin/recovery/tasks/{task_id}/review."""

    permissions = (VIEW, REVIEW)
    template = "tasks_app/review.html"

    def get(self, request: HttpRequest, task_id: UUID) -> HttpResponse:
        """The form, bound to the dossier that the page shows.

        `?finding=` names a probe's finding that it begins with; the reason and the
        declaration remain the person's own.
        """
        reach = self.reach_of(task_id)
        seen = self._see(reach, task_id)
        form = ReviewForm(
            initial={
                **_proposed(seen, request.GET.get("finding", "")),
                "form_key": new_id().hex,
                "expected_revision": seen.dossier.task.revision,
                "dossier_digest": seen.dossier.grounds.digest,
                "is_proposal": offer_review(
                    seen.dossier.task, actor=self.actor, reach=reach
                ).wants_two,
            }
        )
        return self._page(seen, form, reach=reach)

    def post(self, request: HttpRequest, task_id: UUID) -> HttpResponse:
        """On to the task when it is settled; else the form with what is wrong."""
        reach = self.reach_of(task_id)
        form = ReviewForm(request.POST)
        if not form.is_valid():
            return self._page(self._see(reach, task_id), form, reach=reach)
        try:
            if "preview" in request.POST:
                return self._foretell(form, task_id=task_id, reach=reach)
            act = propose_review if form.cleaned_data["is_proposal"] else review_task
            answered = act(
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
            return self._page(self._see(reach, task_id), form, reach=reach)
        messages.success(request, _done(form, is_replay=answered.deduplicated))
        return self.go_to(reverse("recovery:task", args=[task_id]))

    def _foretell(
        self, form: ReviewForm, *, task_id: UUID, reach: Reach
    ) -> HttpResponse:
        preview = preview_of_review(
            form.command(), task_id=task_id, actor=self.actor, reach=reach
        )
        if isinstance(preview.refusal, ReviewNotAllowed):
            raise preview.refusal
        if preview.refusal is not None:
            return self._differing(form, preview.refusal, task_id=task_id, reach=reach)
        return self._page(self._see(reach, task_id), form, reach=reach, preview=preview)

    def _differing(
        self, form: ReviewForm, conflict: StateConflict, *, task_id: UUID, reach: Reach
    ) -> HttpResponse:
        """What was typed, bound to the present dossier, and what is new in it."""
        seen = self._see(reach, task_id)
        difference = _difference(form, conflict, seen)
        # What is declared is declared of what was known; all that was typed stays.
        typed = {**form.typed, "execution_settled": False}
        form = ReviewForm(
            initial={
                **typed,
                "expected_revision": seen.dossier.task.revision,
                "dossier_digest": seen.dossier.grounds.digest,
            }
        )
        return self._page(
            seen, form, reach=reach, difference=difference, conflict=conflict
        )

    def _see(self, reach: Reach, task_id: UUID) -> Seen:
        return see(reach, task_id, may_audit=self.user.has_perm(VIEW_AUDIT))

    def _page(
        self,
        seen: Seen,
        form: ReviewForm,
        *,
        reach: Reach,
        difference: Difference | None = None,
        conflict: StateConflict | None = None,
        preview: Preview | None = None,
    ) -> HttpResponse:
        offer = offer_review(seen.dossier.task, actor=self.actor, reach=reach)
        proposal = open_proposal_of(reach, seen.dossier.task.id, actor=self.actor)
        return self.page(
            proposal=proposal,
            may_send=offer.may_begin(proposal=proposal),
            seen=seen,
            glance=seen.glance,
            story=seen.story,
            form=form,
            offer=offer,
            difference=difference,
            conflict=conflict and words.refusal_in_words(conflict),
            preview=preview,
            may_audit=self.user.has_perm(VIEW_AUDIT),
        )


def _proposed(seen: Seen, finding: str) -> dict[str, str]:
    """What the finding proposes, as it would be typed; nothing if it proposes none."""
    wanted = parse_id(finding)
    for evidence in seen.dossier.evidence.items:
        if evidence.id == wanted and evidence.kind == EVIDENCE_KIND:
            found = found_in(evidence.content)
            break
    else:
        return {}
    if found.proposed_outcome is None:
        return {}
    details = bytes(found.details).decode()
    return {
        "outcome": found.proposed_outcome,
        "evidence_ref": found.reference,
        "result": "" if details == "null" else details,
    }


def _done(form: ReviewForm, *, is_replay: bool) -> str:
    if form.cleaned_data["is_proposal"]:
        return gettext("Proposed. Another person can approve it now.")
    if is_replay:
        return gettext("This form was sent before; the task was settled once.")
    return gettext("The task is settled.")


def _difference(form: ReviewForm, conflict: StateConflict, seen: Seen) -> Difference:
    return Difference(
        revision_then=form.cleaned_data["expected_revision"],
        new_reports=_new_reports(conflict, seen.story.late_reports),
        is_settled=seen.glance.is_final,
    )


def _new_reports(
    conflict: StateConflict, reports: Sequence[LateReport]
) -> Sequence[LateReport] | None:
    """The late reports that the refusal names as new, or None if it cannot tell."""
    if "new_evidence_count" not in conflict.details:
        return None
    named = conflict.details["new_evidence"]
    new = {it["id"] for it in named} if isinstance(named, list) else set()
    return [it for it in reports if it.id in new]
