"""The handlers that Orbit brings along: its own housekeeping, and a demonstration."""

from openapi_app.handlers import housekeeping, ledger, summary, token_notices

__all__ = ["housekeeping", "ledger", "summary", "token_notices"]
