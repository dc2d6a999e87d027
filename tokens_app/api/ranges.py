"""What a token reaches or could reach."""

from dataclasses import asdict
from uuid import UUID

from rest_framework.request import Request
from rest_framework.response import Response

from orbit.errors import Invalid
from orbit.http.envelope import answer
from orbit.ids import parse_id
from tokens_app import queries
from tokens_app.api.shapes import PreviewIn, range_of
from tokens_app.api.views import EDIT, ISSUE, VIEW, WorkbenchAPIView
from tokens_app.domain.scope import require_audience

CHOOSERS = (ISSUE, EDIT)


class TokenReach(WorkbenchAPIView):
    """GET /workbench/api/tokens/{token_id}/reach."""

    permissions = {"GET": (VIEW,)}

    def get(self, request: Request, token_id: UUID) -> Response:
        """What it reaches now, and what its groups gained since its grant."""
        reached, gained = queries.token_reach(token_id), queries.token_drift(token_id)
        return answer(
            request,
            {
                "reached": [asdict(it) for it in reached],
                "gained": [asdict(it) for it in gained],
            },
        )


class RangePreview(WorkbenchAPIView):
    """POST /workbench/api/range:preview."""

    permissions = {"POST": CHOOSERS}

    def post(self, request: Request) -> Response:
        """What a token with this range would reach if the user issued it now."""
        body = self.body(PreviewIn)
        preview = queries.range_preview(
            audience=body.audience,
            scopes=frozenset(body.scopes),
            wanted=range_of(body, namespace_id=body.namespace_id),
            user_id=self.user.pk,
        )
        return answer(request, asdict(preview))


class RangeChoices(WorkbenchAPIView):
    """GET /workbench/api/range/choices."""

    permissions = {"GET": CHOOSERS}
    query_parameters = ("audience", "namespace_id")

    def get(self, request: Request) -> Response:
        """Everything in a namespace that a range can name."""
        audience = require_audience(self.query.get("audience", ""))
        namespace_id = parse_id(self.query.get("namespace_id", ""))
        if namespace_id is None:
            raise Invalid("Name a namespace by its id.", field="namespace_id")
        found = queries.range_choices(audience=audience, namespace_id=namespace_id)
        return answer(request, {"items": [asdict(it) for it in found]})


class NamespaceList(WorkbenchAPIView):
    """GET /workbench/api/namespaces."""

    permissions = {"GET": CHOOSERS}

    def get(self, request: Request) -> Response:
        """The namespaces and applications that a token can belong to."""
        return answer(
            request,
            {
                "namespaces": [asdict(it) for it in queries.namespaces()],
                "applications": [asdict(it) for it in queries.applications()],
            },
        )
