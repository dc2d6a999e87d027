"""Rotate a token: the form, and the one answer with the new secret."""

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.utils.decorators import method_decorator
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables

from orbit.errors import Refusal
from orbit.http.login_age import needs_password, require_recent_login
from tokens_app import queries
from tokens_app.actions.rotate_token import rotate_token
from tokens_app.pages.forms import RotateForm
from tokens_app.pages.issue import secret_context
from tokens_app.pages.views import ROTATE, WorkbenchPage, add_refusal


@method_decorator(sensitive_post_parameters("password"), name="dispatch")
class RotatePage(WorkbenchPage):
    """/workbench/tokens/{token_id}/rotate."""

    permissions = (ROTATE,)
    template = "tokens_app/rotate.html"

    def get(self, request: HttpRequest, token_id: UUID) -> HttpResponse:  # noqa: ARG002
        """The form, bound to the secret that is valid now."""
        token = queries.token_detail(token_id)
        form = RotateForm(initial={"expected_rotation_count": token.rotation_count})
        return self._page(token, form)

    @sensitive_variables("form", "issued")
    def post(self, request: HttpRequest, token_id: UUID) -> HttpResponse:
        """201 with the plain text, this once; else the form with what is wrong."""
        token = queries.token_detail(token_id)
        form = RotateForm(request.POST)
        if not form.is_valid():
            return self._page(token, form)
        try:
            require_recent_login(request, password=form.cleaned_data["password"])
            issued = rotate_token(
                token_id=token_id, rotation=form.rotation, by=self.actor
            )
        except Refusal as refusal:
            add_refusal(form, refusal)
            return self._page(token, form)
        return self._page(token, form, status=201, **secret_context(issued))

    def _page(
        self,
        token: queries.TokenDetail,
        form: RotateForm,
        /,
        *,
        status: int = 200,
        **more: object,
    ) -> HttpResponse:
        return self.page(
            status=status,
            form=form,
            asks_password=needs_password(self.request) or "password" in form.errors,
            usage=queries.token_usage(token.id),
            **{"token": token, **more},
        )
