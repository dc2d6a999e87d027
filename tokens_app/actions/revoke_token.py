"""Revoke a token for ever."""

from datetime import datetime
from uuid import UUID

from django.db import transaction

from orbit import clock
from tokens_app.domain.grant import Actor, check_reason
from tokens_app.models import ServiceAccountToken, TokenAudit


def revoke_token(*, token_id: UUID, by: Actor, reason: str) -> datetime:
    """The moment of the revocation; every process refuses the token from then on.

    Revoking again changes nothing and answers the first moment.
    """
    check_reason(reason)
    with transaction.atomic(durable=True):
        token = ServiceAccountToken.objects.lock(token_id)
        if token.revoked_at is not None:
            return token.revoked_at
        now = clock.now()
        token.status = "REVOKED"
        token.revoked_at = now
        token.revoked_by = by.name
        token.revoked_reason = reason
        token.drop_previous_secret()
        token.updated_at = now
        token.updated_by = by.name
        token.save(
            update_fields=[
                "status",
                "revoked_at",
                "revoked_by",
                "revoked_reason",
                *ServiceAccountToken.PREVIOUS_SECRET,
                "updated_at",
                "updated_by",
            ]
        )
        TokenAudit.objects.record(
            token=token, action="token.revoke", by=by, reason=reason
        )
    return now
