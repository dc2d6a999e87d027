"""The ground of the pages: who may see one, how it looks, and refusals in forms."""

from typing import ClassVar

from django import forms
from django.conf import settings
from django.contrib import admin
from django.contrib.auth.models import User
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import BadRequest, PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render, resolve_url
from django.views.generic import View

from orbit.errors import Forbidden, Invalid, NotFound, Refusal
from tokens_app.domain.grant import Actor
from tokens_app.pages import words

VIEW = "tokens_app.view_serviceaccounttoken"
VIEW_AUDIT = "tokens_app.view_tokenaudit"
ISSUE = "tokens_app.issue_token"
EDIT = "tokens_app.edit_token"
ROTATE = "tokens_app.rotate_token"
SUSPEND = "tokens_app.suspend_token"
REVOKE = "tokens_app.revoke_token"


class WorkbenchPage(View):
    """Asks for staff and one of `permissions`; what it answers is stored nowhere."""

    permissions: ClassVar[tuple[str, ...]]
    template: ClassVar[str]
    http_method_names = ["get", "post", "head"]

    def dispatch(
        self, request: HttpRequest, *args: object, **kwargs: object
    ) -> HttpResponseBase:
        """The answer; the login page for strangers, 403 for who may not."""
        if not request.user.is_authenticated:
            return redirect_to_login(
                request.get_full_path(), resolve_url(settings.LOGIN_URL)
            )
        if not self.is_allowed:
            raise PermissionDenied
        try:
            response = super().dispatch(request, *args, **kwargs)
        except NotFound as absent:
            raise Http404(absent.message) from None
        except Invalid as mistake:
            raise BadRequest(mistake.message) from None
        response.headers["Cache-Control"] = "no-store"
        return response

    @property
    def user(self) -> User:
        """The signed-in user."""
        user: User = self.request.user  # type: ignore[assignment]
        return user

    @property
    def is_allowed(self) -> bool:
        """Whether the user is staff with one of the permissions."""
        return self.user.is_staff and any(map(self.user.has_perm, self.permissions))

    @property
    def actor(self) -> Actor:
        """The user as the audit names them, with their own rights as the limit."""
        return Actor(
            name=f"user:{self.user.get_username()}"[:150],
            address=self.request.META.get("REMOTE_ADDR"),
            user_id=self.user.pk,
        )

    def page(self, *, status: int = 200, **context: object) -> HttpResponse:
        """The page's template with this context."""
        around = {**admin.site.each_context(self.request), "site_url": None}
        return render(
            self.request,
            self.template,
            {
                **around,
                "is_nav_sidebar_enabled": False,
                "is_workbench": True,
                **context,
            },
            status=status,
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
