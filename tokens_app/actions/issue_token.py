"""Issue a token: with rotation, the only moment at which its plain text exists."""

from django.conf import settings
from django.db import transaction
from django.views.decorators.debug import sensitive_variables

from orbit import clock
from tokens_app.domain.grant import Actor, TokenGrant, check_grant, settle_expiry
from tokens_app.domain.issued import IssuedToken
from tokens_app.domain.secret import digest_of, new_token
from tokens_app.models import ServiceAccountToken, TokenAudit
from tokens_app.models.peppers import peppers


@sensitive_variables("token", "issued")
def issue_token(*, grant: TokenGrant, by: Actor) -> IssuedToken:
    """A new ACTIVE token with its plain text; TokenInvalid names a broken rule."""
    scopes = check_grant(grant)
    token = new_token(grant.audience)
    pepper = peppers()
    with transaction.atomic(durable=True):
        now = clock.now()
        row = ServiceAccountToken.objects.create(
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
            queue_ids=_distinct([queue_id.hex for queue_id in grant.queue_ids]),
            job_ids=_distinct([job_id.hex for job_id in grant.job_ids]),
            job_groups=_distinct(grant.job_groups),
            reads_per_minute=grant.reads_per_minute,
            triggers_per_minute=grant.triggers_per_minute,
            status="ACTIVE",
            issued_at=now,
            expires_at=settle_expiry(
                grant.expires, now=now, max_days=settings.TOKEN_MAX_LIFETIME_DAYS
            ),
            created_by=by.name,
            created_at=now,
            updated_by=by.name,
            updated_at=now,
        )
        TokenAudit.objects.record(
            token=row, action="token.issue", by=by, changes=_granted(row)
        )
    return IssuedToken(
        token_id=row.id,
        key_id=row.key_id,
        plaintext=token.plaintext,
        expires_at=row.expires_at,
    )


def _distinct(values: list[str] | tuple[str, ...]) -> list[str]:
    return list(dict.fromkeys(values))


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
