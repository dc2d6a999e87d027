"""Decisions that one person proposed and another approves, or that are withdrawn."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext_lazy as _

from orbit.errors import Refusal
from orbit.exact_json import canonical, decode_checked, encode
from orbit.ids import new_id
from orbit.words import Word
from tasks_app.actions.approve_review import approve_review
from tasks_app.actions.withdraw_review import withdraw_review
from tasks_app.domain.access import Actor, ActorKind, Reach
from tasks_app.domain.commands import ApproveReview, WithdrawReview
from tasks_app.domain.duty import ProposalState
from tasks_app.domain.idempotency import Identity, identify
from tasks_app.models.review import ProposalRecord
from tasks_app.pages import words
from tasks_app.pages.texts import Excerpt
from tasks_app.pages.views import REVIEW, VIEW, ConsolePage
from tasks_app.queries import proposals_of
from tasks_app.queries.people import user_names
from tokens_app.public import token_names


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenProposal:
    """A proposal that waits for another person, with a key for what is done to it."""

    record: ProposalRecord
    who: str
    outcome: Word
    result: Excerpt
    is_own: bool
    form_key: str


def open_proposal_of(
    reach: Reach, task_id: UUID, *, actor: Actor
) -> OpenProposal | None:
    """The proposal that can be approved now, or None."""
    found = [
        it for it in proposals_of(reach, task_id) if it.state is ProposalState.OPEN
    ]
    if not found:
        return None
    record = found[-1]
    return OpenProposal(
        record=record,
        who=_name_of(record),
        outcome=words.STATES[record.outcome],
        result=Excerpt(name="proposed", text=record.result, url=""),
        is_own=record.proposer_id == actor.id,
        form_key=new_id().hex,
    )


def _name_of(record: ProposalRecord) -> str:
    ids = [record.proposer_id]
    is_user = record.proposer_kind == ActorKind.USER
    names = user_names(ids) if is_user else token_names(ids)
    return names.get(record.proposer_id, record.proposer_id.hex)


class ProposalAct(ConsolePage):
    """Does what a button beside a proposal says, and goes back to the task."""

    permissions = (VIEW, REVIEW)
    http_method_names = ["post"]
    done: ClassVar[Word]
    members: ClassVar[tuple[str, ...]]

    def act(
        self, members: Mapping[str, str], *, task_id: UUID, identity: Identity
    ) -> None:
        """Do it, or raise a refusal."""
        raise NotImplementedError

    def post(self, request: HttpRequest, task_id: UUID) -> HttpResponse:
        """Back to the task, with what became of it."""
        members = {name: request.POST.get(name, "") for name in self.members}
        try:
            identity = identify(
                key=request.POST.get("form_key", ""), content=canonical(encode(members))
            )
            self.act(members, task_id=task_id, identity=identity)
        except Refusal as refusal:
            messages.error(request, words.refusal_in_words(refusal))
        else:
            messages.success(request, str(self.done))
        return redirect("recovery:task", task_id)


class ApprovePage(ProposalAct):
    """/admin/recovery/tasks/{task_id}/approve."""

    done = _("The task is settled.")
    members = ("proposal_id", "expected_revision")

    def act(
        self, members: Mapping[str, str], *, task_id: UUID, identity: Identity
    ) -> None:
        """Settle the task as was proposed."""
        approve_review(
            decode_checked(encode(members), ApproveReview),
            task_id=task_id,
            identity=identity,
            actor=self.actor,
            reach=self.reach_of(task_id),
        )


class WithdrawPage(ProposalAct):
    """/admin/recovery/tasks/{task_id}/withdraw."""

    done = _("The proposal is withdrawn.")
    members = ("proposal_id",)

    def act(
        self, members: Mapping[str, str], *, task_id: UUID, identity: Identity
    ) -> None:
        """Let the proposal be over."""
        withdraw_review(
            decode_checked(encode(members), WithdrawReview),
            task_id=task_id,
            identity=identity,
            actor=self.actor,
            reach=self.reach_of(task_id),
        )
