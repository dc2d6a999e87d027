"""The ground of the management API: signed-in staff, CSRF, one permission a call."""

from collections.abc import Mapping
from typing import ClassVar, TypeVar

from django.contrib.auth.models import User
from rest_framework.authentication import SessionAuthentication
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from orbit.errors import Forbidden, Unauthenticated
from orbit.exact_json import decode_checked
from orbit.http.paging import read_query
from tokens_app.domain.grant import Actor

T = TypeVar("T")

VIEW = "tokens_app.view_serviceaccounttoken"
VIEW_AUDIT = "tokens_app.view_tokenaudit"
ISSUE = "tokens_app.issue_token"
EDIT = "tokens_app.edit_token"
ROTATE = "tokens_app.rotate_token"
SUSPEND = "tokens_app.suspend_token"
REVOKE = "tokens_app.revoke_token"


class WorkbenchAPIView(APIView):
    """Checks the session, then staff, then the permission of the method.

    `permissions` names for each method those of which one is needed. No answer is to
    be kept by anybody between.
    """

    authentication_classes = [SessionAuthentication]
    permission_classes = ()
    # For the pages of this house: docs/tokens.md describes it, no public document does.
    schema = None
    permissions: ClassVar[Mapping[str, tuple[str, ...]]]
    query_parameters: tuple[str, ...] = ()
    http_method_names = ["get", "post", "patch"]

    def initial(self, request: Request, *args: object, **kwargs: object) -> None:
        """Refuse whoever may not make this call."""
        super().initial(request, *args, **kwargs)
        if not getattr(request.user, "is_authenticated", False):
            raise Unauthenticated("Sign in first; this API takes a session, no token.")
        method = request.method or ""
        if method not in self.permissions:
            self.http_method_not_allowed(request)
        self._require_any(self.permissions[method])
        self.query = read_query(
            request, allowed=self.query_parameters if method == "GET" else ()
        )

    def finalize_response(
        self, request: Request, response: Response, *args: object, **kwargs: object
    ) -> Response:
        """The answer, to be stored nowhere."""
        final: Response = super().finalize_response(request, response, *args, **kwargs)
        final.headers["Cache-Control"] = "no-store"
        if final.status_code == 401:  # noqa: PLR2004 - Unauthorized
            final.headers["WWW-Authenticate"] = 'Session realm="orbit"'
        return final

    @property
    def user(self) -> User:
        """The signed-in user."""
        user: User = self.request.user  # type: ignore[assignment]
        return user

    @property
    def actor(self) -> Actor:
        """The user as the audit names them, with their own rights as the limit."""
        return Actor(
            name=f"user:{self.user.get_username()}"[:150],
            address=self.request.META.get("REMOTE_ADDR"),
            user_id=self.user.pk,
        )

    def body(self, shape: type[T]) -> T:
        """The request's body in its shape; raises Invalid."""
        body: object = self.request.data
        return decode_checked(body if isinstance(body, bytes) else b"{}", shape)

    def _require_any(self, permissions: tuple[str, ...]) -> None:
        if not self.user.is_staff:
            raise Forbidden("Only staff may use the token workbench.")
        if not any(self.user.has_perm(name) for name in permissions):
            raise Forbidden(
                f"You need the permission {permissions[0]} for this; an administrator"
                " can give it to you.",
                details={"permission": permissions[0]},
            )
