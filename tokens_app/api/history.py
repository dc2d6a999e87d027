"""What a token did, and what was done to it."""

from dataclasses import asdict
from uuid import UUID

from rest_framework.request import Request
from rest_framework.response import Response

from orbit.http.envelope import answer
from tokens_app import queries
from tokens_app.api.views import VIEW, VIEW_AUDIT, WorkbenchAPIView
from tokens_app.models import TokenAudit, TokenCall


class TokenUsage(WorkbenchAPIView):
    """GET /workbench/api/tokens/{token_id}/usage."""

    permissions = {"GET": (VIEW,)}

    def get(self, request: Request, token_id: UUID) -> Response:
        """How often it called, by day."""
        queries.token_detail(token_id)
        usage = asdict(queries.token_usage(token_id))
        return answer(request, usage)


class TokenCalls(WorkbenchAPIView):
    """GET /workbench/api/tokens/{token_id}/calls."""

    permissions = {"GET": (VIEW,)}

    def get(self, request: Request, token_id: UUID) -> Response:
        """The last 100 calls, newest first."""
        queries.token_detail(token_id)
        found = queries.last_calls(token_id)
        return answer(request, {"items": [_call(call) for call in found]})


class TokenExecutions(WorkbenchAPIView):
    """GET /workbench/api/tokens/{token_id}/executions."""

    permissions = {"GET": (VIEW,)}

    def get(self, request: Request, token_id: UUID) -> Response:
        """The newest executions that it started."""
        queries.token_detail(token_id)
        found = queries.token_executions(token_id)
        return answer(request, {"items": [asdict(it) for it in found]})


class TokenAudits(WorkbenchAPIView):
    """GET /workbench/api/tokens/{token_id}/audit."""

    permissions = {"GET": (VIEW_AUDIT,)}

    def get(self, request: Request, token_id: UUID) -> Response:
        """The last 100 acts on it, newest first."""
        queries.token_detail(token_id)
        found = queries.token_audit(token_id)
        return answer(request, {"items": [_record(it) for it in found]})


def _call(call: TokenCall) -> dict[str, object]:
    return {
        "route": call.route,
        "job_id": call.job_id,
        "status": call.status,
        "result": call.result,
        "is_replay": call.is_replay,
        "latency_ms": round(call.latency_ms, 3),
        "request_id": call.request_id,
        "created_at": call.created_at,
    }


def _record(record: TokenAudit) -> dict[str, object]:
    return {
        "id": record.id,
        "action": record.action,
        "actor": record.actor,
        "address": record.address,
        "reason": record.reason,
        "changes": record.changes,
        "created_at": record.created_at,
    }
