"""Service-account tokens, their calls, and the record of what was done to them."""

from tokens_app.models.service_account_token import ServiceAccountToken
from tokens_app.models.token_audit import TokenAudit
from tokens_app.models.token_call import TokenCall, TokenUsageDay

__all__ = ["ServiceAccountToken", "TokenAudit", "TokenCall", "TokenUsageDay"]
