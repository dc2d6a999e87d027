"""What is done to a token that is issued."""

from uuid import UUID

from django.views.decorators.debug import sensitive_variables
from rest_framework.request import Request
from rest_framework.response import Response

from orbit.http.envelope import answer
from orbit.http.login_age import require_recent_login
from tokens_app.actions.resume_token import resume_token
from tokens_app.actions.revoke_token import revoke_token
from tokens_app.actions.rotate_token import rotate_token
from tokens_app.actions.suspend_token import suspend_token
from tokens_app.api.shapes import ReasonIn, RotateIn, rotation_of
from tokens_app.api.tokens import issued_shape
from tokens_app.api.views import REVOKE, ROTATE, SUSPEND, WorkbenchAPIView
from tokens_app.queries import token_detail


class TokenRotate(WorkbenchAPIView):
    """POST /workbench/api/tokens/{token_id}:rotate."""

    permissions = {"POST": (ROTATE,)}

    @sensitive_variables("body", "issued")
    def post(self, request: Request, token_id: UUID) -> Response:
        """Replace the secret; the answer has the new plain text, this once."""
        body = self.body(RotateIn)
        require_recent_login(request, password=body.password)
        issued = rotate_token(
            token_id=token_id, rotation=rotation_of(body), by=self.actor
        )
        return answer(request, issued_shape(issued))


class TokenSuspend(WorkbenchAPIView):
    """POST /workbench/api/tokens/{token_id}:suspend."""

    permissions = {"POST": (SUSPEND,)}

    def post(self, request: Request, token_id: UUID) -> Response:
        """Refuse the token until it is resumed."""
        reason = self.body(ReasonIn).reason
        suspend_token(token_id=token_id, by=self.actor, reason=reason)
        return answer(request, _standing(token_id))


class TokenResume(WorkbenchAPIView):
    """POST /workbench/api/tokens/{token_id}:resume."""

    permissions = {"POST": (SUSPEND,)}

    def post(self, request: Request, token_id: UUID) -> Response:
        """Accept the token again."""
        reason = self.body(ReasonIn).reason
        resume_token(token_id=token_id, by=self.actor, reason=reason)
        return answer(request, _standing(token_id))


class TokenRevoke(WorkbenchAPIView):
    """POST /workbench/api/tokens/{token_id}:revoke."""

    permissions = {"POST": (REVOKE,)}

    def post(self, request: Request, token_id: UUID) -> Response:
        """Refuse the token for ever."""
        reason = self.body(ReasonIn).reason
        revoke_token(token_id=token_id, by=self.actor, reason=reason)
        return answer(request, _standing(token_id))


def _standing(token_id: UUID) -> dict[str, object]:
    token = token_detail(token_id)
    return {
        "id": token.id,
        "status": token.status,
        "revoked_at": token.revoked_at,
        "updated_at": token.updated_at,
    }
