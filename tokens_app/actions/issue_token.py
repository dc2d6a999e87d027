"""Issue a token: with rotation, the only moment at which its plain text exists."""

from uuid import UUID

from django.conf import settings
from django.db import connection, transaction
from django.views.decorators.debug import sensitive_variables

from orbit import clock
from tokens_app.domain.errors import TokenAlreadyIssued
from tokens_app.domain.grant import (
    Actor,
    TokenGrant,
    check_grant,
    require_range,
    settle_expiry,
)
from tokens_app.domain.issued import IssuedToken
from tokens_app.domain.scope import read_scopes
from tokens_app.domain.secret import digest_of, new_token
from tokens_app.models import ServiceAccountToken, TokenAudit
from tokens_app.models.grants import cut_range
from tokens_app.models.peppers import peppers


@sensitive_variables("token", "issued")
def issue_token(*, grant: TokenGrant, by: Actor) -> IssuedToken:
    """A new ACTIVE token with its plain text; TokenInvalid names a broken rule.

    The range is cut to what the acting user may grant; RangeNotGrantable if nothing is
    left of it. TokenAlreadyIssued if the same form was sent before.
    """
    scopes = check_grant(grant)
    if by.user_id is not None:
        require_range(grant.range, audience=grant.audience)
    token = new_token(grant.audience)
    pepper = peppers()
    with transaction.atomic(durable=True):
        _refuse_repetition(grant.form_key)
        granted = cut_range(
            grant.range, audience=grant.audience, scopes=read_scopes(scopes), by=by
        )
        now = clock.now()
        row = ServiceAccountToken(
            audience=grant.audience,
            namespace_id=grant.namespace_id,
            application_id=grant.application_id,
            name=grant.name.strip(),
            description=grant.description,
            owner_contact=grant.owner_contact,
            key_id=token.key_id,
            display_prefix=token.display_prefix,
            digest=digest_of(token.plaintext, pepper=pepper.current),
            pepper_id=pepper.current_id,
            scopes=scopes,
            reads_per_minute=grant.reads_per_minute,
            triggers_per_minute=grant.triggers_per_minute,
            status="ACTIVE",
            issued_at=now,
            expires_at=settle_expiry(
                grant.expires, now=now, max_days=settings.TOKEN_MAX_LIFETIME_DAYS
            ),
            form_key=grant.form_key,
            created_by=by.name,
            created_at=now,
            updated_by=by.name,
            updated_at=now,
        )
        row.set_range(granted)
        row.save(force_insert=True)
        TokenAudit.objects.record(
            token=row, action="token.issue", by=by, changes=_granted(row)
        )
    return IssuedToken(
        token_id=row.id,
        key_id=row.key_id,
        plaintext=token.plaintext,
        expires_at=row.expires_at,
    )


def _refuse_repetition(form_key: UUID | None) -> None:
    if form_key is None:
        return
    with connection.cursor() as cursor:
        # The second of two clicks waits here for the first one's commit.
        cursor.execute(
            "SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [form_key.hex]
        )
    earlier = ServiceAccountToken.objects.filter(form_key=form_key).first()
    if earlier is not None:
        raise TokenAlreadyIssued(
            "This form was sent before and issued its token, whose secret was shown"
            " then. Rotate that token if the secret is lost.",
            details={"token_id": earlier.id.hex, "key_id": earlier.key_id},
        )


def _granted(row: ServiceAccountToken) -> dict[str, object]:
    return {
        "name": row.name,
        "audience": row.audience,
        "namespace_id": row.namespace_id.hex,
        "application_id": row.application_id.hex if row.application_id else None,
        "scopes": row.scopes,
        "queue_ids": row.queue_ids,
        "job_ids": row.job_ids,
        "job_groups": row.job_groups,
        "expires_at": row.expires_at.isoformat(),
    }
