"""The list of tokens, and everything about one of them."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse

from orbit import clock
from orbit.http.paging import Cursor
from orbit.words import Word, remaining
from tokens_app import queries
from tokens_app.models import TokenAudit
from tokens_app.pages import words
from tokens_app.pages.views import ISSUE, VIEW, VIEW_AUDIT, WorkbenchPage
from tokens_app.queries.workbench import EXPIRING_WITHIN

SHOWN = 25


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A token in the list, with what is said of its times."""

    token: queries.TokenSummary
    expires: str
    ends_soon: bool
    last_used: str


class TokenListPage(WorkbenchPage):
    """/workbench/tokens/: filtered, searched, in pages."""

    permissions = (VIEW,)
    template = "tokens_app/tokens.html"

    def get(self, request: HttpRequest) -> HttpResponse:
        """One page of tokens, newest first."""
        wanted = _filter(request.GET.get("filter", "all"))
        search = request.GET.get("q", "").replace("\0", "")[:200]
        cursor = Cursor("tokens", self.user.pk, "workbench.pages")
        after = request.GET.get("after")
        found = queries.tokens_page(
            wanted=wanted,
            search=search,
            after=cursor.read(after, queries.TokenPosition) if after else None,
            limit=SHOWN,
        )
        shown, now = found[:SHOWN], clock.now()
        last = shown[-1] if len(found) > SHOWN else None
        return self.page(
            rows=[_row(token, now=now) for token in shown],
            next=cursor.sign((last.created_at, last.id)) if last else None,
            filters=words.FILTERS.items(),
            wanted=wanted.value,
            search=search,
            is_first_page=not after,
            may_issue=self.user.has_perm(ISSUE),
        )


class TokenPage(WorkbenchPage):
    """/workbench/tokens/{token_id}."""

    permissions = (VIEW,)
    template = "tokens_app/token.html"

    def get(self, request: HttpRequest, token_id: UUID) -> HttpResponse:  # noqa: ARG002
        """The token with its use, its calls, its executions and its audit."""
        token, now = queries.token_detail(token_id), clock.now()
        usage = queries.token_usage(token_id)
        may_audit = self.user.has_perm(VIEW_AUDIT)
        return self.page(
            token=token,
            row=_row(token, now=now),
            scopes=[(name, words.SCOPES[name]) for name in token.scopes],
            reach=queries.token_reach(token_id),
            drift=queries.token_drift(token_id),
            usage=usage,
            bars=_bars(usage.days),
            calls=queries.last_calls(token_id),
            executions=queries.token_executions(token_id),
            may_audit=may_audit,
            audit=[_told(it) for it in queries.token_audit(token_id)]
            if may_audit
            else [],
            is_live=token.status in {"ACTIVE", "SUSPENDED"},
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """A day in the chart of calls: percents of the highest day, from above."""

    day: queries.UsageDay
    left: float
    top: float
    height: float
    refused_top: float
    refused_height: float


def _bars(days: list[queries.UsageDay]) -> list[Bar]:
    highest = max([day.calls for day in days] + [1])
    return [
        Bar(
            day=day,
            left=place * 10 + 1,
            top=100 - day.calls / highest * 100,
            height=day.calls / highest * 100,
            refused_top=100 - day.refused / highest * 100,
            refused_height=day.refused / highest * 100,
        )
        for place, day in enumerate(days)
    ]


def _row(token: queries.TokenSummary, *, now: datetime) -> Row:
    used = token.last_used_at
    return Row(
        token=token,
        expires=remaining(token.expires_at, now=now),
        ends_soon=token.status == "ACTIVE"
        and token.expires_at <= now + EXPIRING_WITHIN,
        last_used=remaining(used, now=now) if used else "",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """An audit record, with its changes as words and values."""

    record: TokenAudit
    changes: list[tuple[Word, str, str]]


def _told(record: TokenAudit) -> Told:
    return Told(
        record=record,
        changes=[_change(name, value) for name, value in record.changes.items()],
    )


def _change(name: str, value: object) -> tuple[Word, str, str]:
    told = words.MEMBERS.get(name, name)
    if isinstance(value, dict) and value.keys() == {"from", "to"}:
        return told, _text(value["from"]), _text(value["to"])
    return told, "", _text(value)


def _text(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "—"
    return "—" if value in (None, "") else str(value)


def _filter(name: str) -> queries.TokenFilter:
    try:
        return queries.TokenFilter(name)
    except ValueError:
        raise Http404 from None
