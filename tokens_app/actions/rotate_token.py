"""Replace a token's secret; its row and its key id stay."""

from uuid import UUID

from django.db import transaction
from django.views.decorators.debug import sensitive_variables

from orbit import clock
from tokens_app.domain.errors import TokenAlreadyRotated, TokenNotActive
from tokens_app.domain.grant import Actor
from tokens_app.domain.issued import IssuedToken
from tokens_app.domain.rotation import Rotation, check_rotation
from tokens_app.domain.secret import digest_of, new_secret
from tokens_app.models import ServiceAccountToken, TokenAudit
from tokens_app.models.peppers import peppers


@sensitive_variables("secret")
def rotate_token(*, token_id: UUID, rotation: Rotation, by: Actor) -> IssuedToken:
    """The same token with a new secret, in plain text for this once.

    The old secret dies at once, or after the overlap; at most one old secret lives.
    Raises TokenAlreadyRotated if the token was rotated since the caller looked, and
    TokenNotActive for one that is revoked or expired.
    """
    check_rotation(rotation)
    pepper = peppers()
    with transaction.atomic(durable=True):
        token = ServiceAccountToken.objects.lock(token_id)
        now = clock.now()
        if token.status == "REVOKED" or token.expires_at <= now:
            raise TokenNotActive("A revoked or expired token stays so; issue another.")
        if token.rotation_count != rotation.expected_rotation_count:
            raise TokenAlreadyRotated(
                "This token was rotated since; use that secret, or look again first.",
                details={"rotation_count": token.rotation_count},
            )
        secret = new_secret(audience=token.audience, key_id=token.key_id)
        if rotation.overlap:
            token.keep_previous_secret(until=now + rotation.overlap)
        else:
            token.drop_previous_secret()
        token.digest = digest_of(secret.plaintext, pepper=pepper.current)
        token.pepper_id = pepper.current_id
        token.rotation_count += 1
        token.rotated_at = now
        token.updated_at = now
        token.updated_by = by.name
        token.save(
            update_fields=[
                *ServiceAccountToken.PREVIOUS_SECRET,
                "digest",
                "pepper_id",
                "rotation_count",
                "rotated_at",
                "updated_at",
                "updated_by",
            ]
        )
        TokenAudit.objects.record(
            token=token,
            action="token.rotate",
            by=by,
            reason=rotation.note or rotation.reason,
            changes={
                "rotation_count": token.rotation_count,
                "reason": rotation.reason,
                "overlap_seconds": int(rotation.overlap.total_seconds()),
            },
        )
    return IssuedToken(
        token_id=token.id,
        key_id=token.key_id,
        plaintext=secret.plaintext,
        expires_at=token.expires_at,
    )
