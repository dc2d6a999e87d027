"""The ground of the workbench's pages: permissions, actor, and refusals in forms."""

from django import forms
from django.core.exceptions import PermissionDenied

from orbit.errors import Forbidden, Refusal
from orbit.http.staff_page import StaffPage
from tokens_app.domain.grant import Actor
from tokens_app.pages import words

VIEW = "tokens_app.view_serviceaccounttoken"
VIEW_AUDIT = "tokens_app.view_tokenaudit"
ISSUE = "tokens_app.issue_token"
EDIT = "tokens_app.edit_token"
ROTATE = "tokens_app.rotate_token"
SUSPEND = "tokens_app.suspend_token"
REVOKE = "tokens_app.revoke_token"


class WorkbenchPage(StaffPage):
    """A page of the token workbench."""

    section = "tokens"

    @property
    def actor(self) -> Actor:
        """The user as the audit names them, with their own rights as the limit."""
        return Actor(
            name=f"user:{self.user.get_username()}"[:150],
            address=self.request.META.get("REMOTE_ADDR"),
            user_id=self.user.pk,
        )


def add_refusal(form: forms.Form, refusal: Refusal) -> None:
    """Put the refusal beside its field, in the visitor's language.

    A refusal that is nobody's field stands at the head of the form.
    """
    if isinstance(refusal, Forbidden) and refusal.field is None:
        raise PermissionDenied
    field = words.FORM_FIELDS.get(refusal.field or "", refusal.field)
    form.add_error(
        field if field in form.fields else None, words.refusal_in_words(refusal)
    )
