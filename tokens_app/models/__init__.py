"""Service-account tokens and the record of what was done to them."""

from tokens_app.models.service_account_token import ServiceAccountToken
from tokens_app.models.token_audit import TokenAudit

__all__ = ["ServiceAccountToken", "TokenAudit"]
