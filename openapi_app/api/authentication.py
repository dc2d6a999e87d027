"""Who calls the open job API: tokens of audience OPEN_JOBS, and nobody else."""

from django.conf import settings
from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request

from openapi_app.domain.refusals import RateLimited
from openapi_app.gateways.rate_limit import Bucket, take_if_possible
from orbit.errors import Unauthenticated
from tokens_app.public import Audience, Principal, authenticate


class OpenJobAuthentication(BaseAuthentication):
    """Answers the token's Principal as `request.user`.

    Raises Unauthenticated, or RateLimited to an address that failed too often; a
    valid token is served from there all the same, and no failure counts against it.
    """

    def authenticate(self, request: Request) -> tuple[Principal, None]:
        """The principal, asked of the database at every call."""
        header = request.META.get("HTTP_AUTHORIZATION")
        address = request.META.get("REMOTE_ADDR")
        try:
            principal = authenticate(
                authorization=header, audience=Audience.OPEN_JOBS, address=address
            )
        except Unauthenticated:
            if header:
                _count_failure(address)
            raise
        return principal, None

    def authenticate_header(self, request: Request) -> str:
        """The challenge of a 401."""
        return "Bearer"


def _count_failure(address: str | None) -> None:
    quota = take_if_possible(
        Bucket(
            name="failures",
            subject=address or "unknown",
            limit=settings.OPEN_JOBS_FAILURES_PER_MINUTE,
        )
    )
    if quota is not None and not quota.is_kept:
        raise RateLimited(retry_after_ms=quota.reset_ms)
