"""The ground of Orbit's own pages: who may see one, how it looks, and how it ends."""

from typing import ClassVar

from django.conf import settings
from django.contrib import admin
from django.contrib.auth.models import User
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import BadRequest, PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render, resolve_url
from django.views.generic import View

from orbit.errors import Invalid, NotFound


class StaffPage(View):
    """Asks for staff and one of `permissions`; what it answers is stored nowhere.

    `section` names the part of the navigation that the page belongs to.
    """

    permissions: ClassVar[tuple[str, ...]]
    template: ClassVar[str]
    section: ClassVar[str]
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

    def page(self, *, status: int = 200, **context: object) -> HttpResponse:
        """The page's template with this context."""
        around = {**admin.site.each_context(self.request), "site_url": None}
        return render(
            self.request,
            self.template,
            {
                **around,
                "is_nav_sidebar_enabled": False,
                "section": self.section,
                **context,
            },
            status=status,
        )

    def go_to(self, url: str) -> HttpResponse:
        """On to `url`: a redirect, or its address for the script that sent a form.

        The script stays on its page until it has the whole answer.
        """
        if "X-Orbit-Form" not in self.request.headers:
            return redirect(url)
        return render(self.request, "orbit/done.html", {"next": url})
