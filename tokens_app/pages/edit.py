"""Edit a token: what it is called, reaches, and when it ends."""

from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext

from orbit.errors import Refusal
from tokens_app import queries
from tokens_app.actions.edit_token import edit_token
from tokens_app.domain.range_catalogue import RangeMember
from tokens_app.domain.token_edit import TokenEdit
from tokens_app.pages.forms import EditForm
from tokens_app.pages.views import EDIT, WorkbenchPage, add_refusal


class EditPage(WorkbenchPage):
    """/workbench/tokens/{token_id}/edit."""

    permissions = (EDIT,)
    template = "tokens_app/edit.html"

    def get(self, request: HttpRequest, token_id: UUID) -> HttpResponse:  # noqa: ARG002
        """The form with the token as it is."""
        token = queries.token_detail(token_id)
        form = EditForm(
            initial={
                "name": token.name,
                "owner_contact": token.owner_contact,
                "description": token.description,
                "lifetime": "keep",
                "zone": "UTC",
                "job_groups": list(token.job_groups),
                "job_ids": [it.hex for it in token.job_ids],
                "queue_ids": [it.hex for it in token.queue_ids],
                "reads_per_minute": token.reads_per_minute,
                "triggers_per_minute": token.triggers_per_minute,
                "seen_updated_at": token.updated_at.isoformat(),
            }
        )
        form.offer(_choices(token))
        return self._page(token, form)

    def post(self, request: HttpRequest, token_id: UUID) -> HttpResponse:
        """The token's page when it is changed; else the form with what is wrong."""
        token = queries.token_detail(token_id)
        form = EditForm(request.POST)
        form.offer(_choices(token))
        if not form.is_valid():
            return self._page(token, form)
        try:
            edit_token(token_id=token_id, edit=_edit_of(form), by=self.actor)
        except Refusal as refusal:
            add_refusal(form, refusal)
            return self._page(token, form)
        messages.success(request, gettext("The token is changed."))
        return redirect("workbench:token", token_id)

    def _page(self, token: queries.TokenDetail, form: EditForm) -> HttpResponse:
        return self.page(
            token=token,
            form=form,
            drift=queries.token_drift(token.id),
        )


def _choices(token: queries.TokenDetail) -> list[RangeMember]:
    """What can be chosen, and what was chosen and is gone since."""
    offered = queries.range_choices(
        audience=token.audience, namespace_id=token.namespace_id
    )
    ids = {it.id for it in offered}
    groups = {it.name for it in offered if it.kind == "group"}
    gone = gettext("no longer there")
    offered += [
        RangeMember(kind="group", id=token.id, name=name)
        for name in token.job_groups
        if name not in groups
    ]
    offered += [
        RangeMember(kind=kind, id=it, name=it.hex, group=gone)
        for kind, known in (("job", token.job_ids), ("queue", token.queue_ids))
        for it in known
        if it not in ids
    ]
    return offered


def _edit_of(form: EditForm) -> TokenEdit:
    typed = form.cleaned_data
    return TokenEdit(
        name=typed["name"],
        description=typed["description"],
        owner_contact=typed["owner_contact"],
        expires=form.expires,
        reads_per_minute=typed["reads_per_minute"] or 0,
        triggers_per_minute=typed["triggers_per_minute"] or 0,
        seen_updated_at=typed["seen_updated_at"],
        reason=typed["reason"],
        **form.ids,
    )
