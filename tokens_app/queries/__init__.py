"""Questions about tokens: at the door, and at the workbench."""

from tokens_app.queries.credentials import (
    Credential,
    ExpiringToken,
    find_credential,
    find_token,
    token_names,
    tokens_by_age,
    tokens_expiring,
)
from tokens_app.queries.history import (
    TokenUsage,
    UsageDay,
    last_calls,
    token_audit,
    token_executions,
    token_usage,
)
from tokens_app.queries.reach import (
    RangePreview,
    applications,
    namespaces,
    range_choices,
    range_preview,
    token_drift,
    token_reach,
)
from tokens_app.queries.workbench import (
    TokenDetail,
    TokenFilter,
    TokenPosition,
    TokenSummary,
    token_detail,
    tokens_page,
)

__all__ = [
    "Credential",
    "ExpiringToken",
    "RangePreview",
    "TokenDetail",
    "TokenFilter",
    "TokenPosition",
    "TokenSummary",
    "TokenUsage",
    "UsageDay",
    "applications",
    "find_credential",
    "find_token",
    "last_calls",
    "namespaces",
    "range_choices",
    "range_preview",
    "token_audit",
    "token_detail",
    "token_drift",
    "token_executions",
    "token_names",
    "token_reach",
    "token_usage",
    "tokens_by_age",
    "tokens_expiring",
    "tokens_page",
]
