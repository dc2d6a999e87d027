"""When a session proved who it is, and the rule that some acts need a recent proof."""

import time
from collections.abc import Callable

from django.contrib.auth import authenticate
from django.http import HttpRequest, HttpResponse
from django.views.decorators.debug import sensitive_variables

from orbit.errors import Forbidden

RECENT_SECONDS = 15 * 60
PROVED_AT = "orbit.proved_at"

Handler = Callable[[HttpRequest], HttpResponse]


class ReauthenticationRequired(Forbidden):
    """The login is too old for this act; the password has to come with it."""

    code = "reauthentication_required"


class LoginAgeMiddleware:
    """Notes in the session when its user logged in.

    A login, and a change of password, give the session another key; nothing else does.
    """

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """The answer of the inner layers."""
        before = request.session.session_key
        response = self.get_response(request)
        if request.session.session_key != before and request.user.is_authenticated:
            note_proof(request)
        return response


def note_proof(request: HttpRequest) -> None:
    """The session's user has proved who they are, at this moment."""
    request.session[PROVED_AT] = time.time()


def needs_password(request: HttpRequest) -> bool:
    """Whether the last proof is too old, or unknown."""
    proved_at = request.session.get(PROVED_AT)
    if not isinstance(proved_at, float):
        return True
    return not 0 <= time.time() - proved_at < RECENT_SECONDS


@sensitive_variables("password")
def require_recent_login(request: HttpRequest, *, password: str | None) -> None:
    """Raise ReauthenticationRequired unless the login is recent or the password right.

    A right password counts as a login from now on; a wrong one as a failed login.
    """
    if not needs_password(request):
        return
    if not password:
        raise ReauthenticationRequired(
            "You logged in more than 15 minutes ago; give your password again.",
            field="password",
        )
    user = request.user
    if authenticate(request, username=user.get_username(), password=password) != user:
        raise ReauthenticationRequired(
            "This is not your password; try again.", field="password"
        )
    note_proof(request)
