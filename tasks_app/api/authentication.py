"""Who calls /v1: service-account tokens of audience TASKS, and nobody else."""

from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request

from tokens_app.public import Audience, Principal, authenticate


class TaskTokenAuthentication(BaseAuthentication):
    """Answers the token's Principal as `request.user`; raises Unauthenticated."""

    def authenticate(self, request: Request) -> tuple[Principal, None]:
        """The principal, asked of the database at every call."""
        principal = authenticate(
            authorization=request.META.get("HTTP_AUTHORIZATION"),
            audience=Audience.TASKS,
            address=request.META.get("REMOTE_ADDR"),
        )
        return principal, None

    def authenticate_header(self, request: Request) -> str:
        """The challenge of a 401."""
        return "Bearer"
