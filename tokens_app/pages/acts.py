"""Suspend, resume and revoke a token: a page that asks why, and the act."""

from typing import ClassVar
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext_lazy as _

from orbit.errors import Refusal
from orbit.words import Word
from tokens_app import queries
from tokens_app.actions.resume_token import resume_token
from tokens_app.actions.revoke_token import revoke_token
from tokens_app.actions.suspend_token import suspend_token
from tokens_app.pages.forms import ReasonForm
from tokens_app.pages.views import REVOKE, SUSPEND, WorkbenchPage, add_refusal


class ActPage(WorkbenchPage):
    """Says what will happen, asks for a reason, and does it."""

    template = "tokens_app/act.html"
    heading: ClassVar[Word]
    button: ClassVar[Word]
    consequence: ClassVar[Word]
    done: ClassVar[Word]
    is_final: ClassVar[bool] = False

    def act(self, token_id: UUID, reason: str) -> None:
        """Do it, or raise a refusal."""
        raise NotImplementedError

    def get(self, request: HttpRequest, token_id: UUID) -> HttpResponse:  # noqa: ARG002
        """What will happen, and the form."""
        return self._page(queries.token_detail(token_id), ReasonForm())

    def post(self, request: HttpRequest, token_id: UUID) -> HttpResponse:
        """The token's page when it is done; else the form with what is wrong."""
        token = queries.token_detail(token_id)
        form = ReasonForm(request.POST)
        form.is_valid()
        try:
            self.act(token_id, form.cleaned_data["reason"])
        except Refusal as refusal:
            add_refusal(form, refusal)
            return self._page(token, form)
        messages.success(request, str(self.done))
        return redirect("workbench:token", token_id)

    def _page(self, token: queries.TokenDetail, form: ReasonForm) -> HttpResponse:
        return self.page(
            token=token,
            form=form,
            usage=queries.token_usage(token.id),
            act=self,
        )


class SuspendPage(ActPage):
    """/workbench/tokens/{token_id}/suspend."""

    permissions = (SUSPEND,)
    heading = _("Suspend this token")
    button = _("Suspend")
    consequence = _(
        "Its calls are refused from the next request on, until somebody resumes it."
    )
    done = _("The token is suspended.")

    def act(self, token_id: UUID, reason: str) -> None:
        """Refuse it until it is resumed."""
        suspend_token(token_id=token_id, by=self.actor, reason=reason)


class ResumePage(ActPage):
    """/workbench/tokens/{token_id}/resume."""

    permissions = (SUSPEND,)
    heading = _("Resume this token")
    button = _("Resume")
    consequence = _("Its calls are accepted again, with the same secret and range.")
    done = _("The token is active again.")

    def act(self, token_id: UUID, reason: str) -> None:
        """Accept it again."""
        resume_token(token_id=token_id, by=self.actor, reason=reason)


class RevokePage(ActPage):
    """/workbench/tokens/{token_id}/revoke."""

    permissions = (REVOKE,)
    heading = _("Revoke this token for ever")
    button = _("Revoke for ever")
    consequence = _(
        "Its calls are refused from the next request on. This cannot be undone: the"
        " caller will need another token."
    )
    done = _("The token is revoked.")
    is_final = True

    def act(self, token_id: UUID, reason: str) -> None:
        """Refuse it for ever."""
        revoke_token(token_id=token_id, by=self.actor, reason=reason)
