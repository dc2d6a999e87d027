"""What a token's key started, for 24 hours."""

from django.db import models

from orbit.ids import new_id


class IdempotencyRecord(models.Model):
    """Of the key only the SHA-256 is stored; `expires_at` is of the database's clock.

    The row of an expired key is taken over by the next execution of the same key.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    namespace_id = models.UUIDField()
    tenant_id = models.BigIntegerField(default=1, db_default=1)
    token_id = models.UUIDField()
    job_id = models.UUIDField()
    key_digest = models.BinaryField()
    content_digest = models.BinaryField()
    execution_id = models.UUIDField()
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    deleted_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "openapi_idempotency_record"
        indexes = [
            models.Index(fields=["expires_at"], name="openapi_idempotency_expiry"),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["token_id", "job_id", "key_digest"],
                condition=models.Q(deleted_at__isnull=True),
                name="openapi_idempotency_key_unique",
            )
        ]

    def __str__(self) -> str:
        return self.execution_id.hex
