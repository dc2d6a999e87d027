"""Tokens that expire soon, as log lines for whoever watches the logs."""

from datetime import timedelta
from typing import Annotated

import msgspec
import structlog

from openapi_app.domain.handlers import Context, job_handler
from tokens_app.public import tokens_expiring

log = structlog.get_logger("openapi_app.token_notices")


class Notices(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """How long before its end a token is spoken of."""

    days: Annotated[int, msgspec.Meta(ge=1, le=365)] = 14


@job_handler("orbit.token_notices", parameters=Notices, recovery_safety="REPLAY_SAFE")
def notify(context: Context, asked: Notices) -> object:
    """One line for each active token that ends within the days, soonest first."""
    ending = tokens_expiring(within=timedelta(days=asked.days))
    for token in ending:
        context.check()
        log.warning(
            "token_expires_soon", key_id=token.key_id, expires_at=token.expires_at
        )
    return {"tokens": len(ending)}
