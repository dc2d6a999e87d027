"""Stop accepting a token until somebody resumes it."""

from uuid import UUID

from django.db import transaction

from orbit import clock
from tokens_app.domain.errors import TokenNotActive
from tokens_app.domain.grant import Actor, check_reason
from tokens_app.models import ServiceAccountToken, TokenAudit


def suspend_token(*, token_id: UUID, by: Actor, reason: str) -> None:
    """Every process refuses the token from the next request on, until it is resumed.

    Suspending again changes nothing. TokenNotActive if the token is revoked.
    """
    check_reason(reason)
    with transaction.atomic(durable=True):
        token = ServiceAccountToken.objects.lock(token_id)
        if token.status == "REVOKED":
            raise TokenNotActive("A revoked token stays revoked; issue another.")
        if token.status == "SUSPENDED":
            return
        token.status = "SUSPENDED"
        token.updated_at = clock.now()
        token.updated_by = by.name
        token.save(update_fields=["status", "updated_at", "updated_by"])
        TokenAudit.objects.record(
            token=token, action="token.suspend", by=by, reason=reason
        )
