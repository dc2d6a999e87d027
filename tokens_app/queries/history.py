"""What a token did, and what was done to it."""

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from uuid import UUID

from django.db.models import Sum

from orbit import clock
from tokens_app.domain.range_catalogue import TokenExecution, catalogue_of
from tokens_app.domain.scope import Audience
from tokens_app.models import TokenAudit, TokenCall, TokenUsageDay

DAYS_SHOWN = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageDay:
    """The calls of one day (UTC)."""

    day: date
    calls: int
    refused: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenUsage:
    """The calls of the last 90 days, and each of the last 30 days, oldest first."""

    calls: int
    refused: int
    last_called_at: datetime | None
    days: list[UsageDay]


def token_usage(token_id: UUID) -> TokenUsage:
    """How often the token called; days without a call are there with 0."""
    counted = TokenUsageDay.objects.filter(token_id=token_id)
    total = counted.aggregate(calls=Sum("calls"), refused=Sum("refused"))
    today = clock.now().date()
    first = today - timedelta(days=DAYS_SHOWN - 1)
    known = {row.day: row for row in counted.filter(day__gte=first)}
    newest = last_calls(token_id, limit=1)
    return TokenUsage(
        calls=total["calls"] or 0,
        refused=total["refused"] or 0,
        last_called_at=newest[0].created_at if newest else None,
        days=[
            _day(first + timedelta(days=number), known) for number in range(DAYS_SHOWN)
        ],
    )


def last_calls(token_id: UUID, *, limit: int = 100) -> list[TokenCall]:
    """The newest calls that are kept, newest first."""
    return list(TokenCall.objects.filter(token_id=token_id).order_by("-id")[:limit])


def token_audit(token_id: UUID, *, limit: int = 100) -> list[TokenAudit]:
    """What was done to the token, newest first."""
    records = TokenAudit.objects.filter(token_id=token_id)
    return list(records.order_by("-created_at", "-id")[:limit])


def token_executions(token_id: UUID, *, limit: int = 20) -> list[TokenExecution]:
    """The newest executions that the token started."""
    executions = catalogue_of(Audience.OPEN_JOBS).executions
    return list(executions(token_id, limit)) if executions else []


def _day(day: date, known: dict[date, TokenUsageDay]) -> UsageDay:
    row = known.get(day)
    return UsageDay(
        day=day, calls=row.calls if row else 0, refused=row.refused if row else 0
    )
