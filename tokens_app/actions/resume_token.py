"""Accept a suspended token again."""

from uuid import UUID

from django.db import transaction

from orbit import clock
from tokens_app.domain.errors import TokenNotActive
from tokens_app.domain.grant import Actor, check_reason
from tokens_app.models import ServiceAccountToken, TokenAudit


def resume_token(*, token_id: UUID, by: Actor, reason: str) -> None:
    """Every process accepts the token again, until it expires.

    An active token stays as it is. TokenNotActive if the token is revoked.
    """
    check_reason(reason)
    with transaction.atomic(durable=True):
        token = ServiceAccountToken.objects.lock(token_id)
        if token.status == "REVOKED":
            raise TokenNotActive("A revoked token stays revoked; issue another.")
        if token.status == "ACTIVE":
            return
        token.status = "ACTIVE"
        token.updated_at = clock.now()
        token.updated_by = by.name
        token.save(update_fields=["status", "updated_at", "updated_by"])
        TokenAudit.objects.record(
            token=token, action="token.resume", by=by, reason=reason
        )
