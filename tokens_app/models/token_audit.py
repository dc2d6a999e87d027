"""The append-only record of what was done to tokens, by whom and why."""

from collections.abc import Mapping
from typing import ClassVar

from django.db import models

from orbit.ids import new_id
from orbit.transactions import require_transaction
from tokens_app.domain.address import read_address
from tokens_app.domain.grant import Actor
from tokens_app.models.service_account_token import ServiceAccountToken


class TokenAuditManager(models.Manager["TokenAudit"]):
    """The one writer of the record."""

    def record(
        self,
        *,
        token: ServiceAccountToken,
        action: str,
        by: Actor,
        reason: str = "",
        changes: Mapping[str, object] | None = None,
    ) -> "TokenAudit":
        """A new row for what the caller's transaction does to `token` now."""
        require_transaction()
        return self.create(
            tenant_id=token.tenant_id,
            token_id=token.id,
            key_id=token.key_id,
            action=action,
            actor=by.name,
            address=read_address(by.address),
            reason=reason,
            changes=dict(changes or {}),
            created_at=token.updated_at,
        )


class TokenAudit(models.Model):
    """One act on one token. The database refuses to change or remove it.

    It holds no secret and no digest, and no body of a request or an answer. The token
    is named by plain columns, so that the record outlives it.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    tenant_id = models.BigIntegerField(default=1)
    token_id = models.UUIDField()
    key_id = models.CharField(max_length=16)
    action = models.CharField(max_length=32)
    actor = models.CharField(max_length=150)
    address = models.GenericIPAddressField(null=True)
    reason = models.TextField(blank=True, default="")
    changes = models.JSONField(default=dict)
    created_at = models.DateTimeField()

    objects: ClassVar[TokenAuditManager] = TokenAuditManager()

    class Meta:
        verbose_name = "token audit record"
        ordering = ["-created_at", "-id"]
        default_permissions = ("view",)
        constraints = [
            models.CheckConstraint(
                condition=models.Q(
                    action__in=[
                        "token.issue",
                        "token.edit",
                        "token.rotate",
                        "token.suspend",
                        "token.resume",
                        "token.revoke",
                        "token.delete",
                    ]
                ),
                name="token_audit_action_is_known",
            )
        ]
        indexes = [
            # One token's history, newest first.
            models.Index(
                fields=["token_id", "-created_at", "-id"], name="token_audit_history"
            ),
            # Everything that was done lately.
            models.Index(
                fields=["tenant_id", "-created_at", "-id"], name="token_audit_recent"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.action} {self.key_id}"
