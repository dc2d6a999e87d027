"""Tokens: list, issue, look at, edit, and samples of calls."""

from dataclasses import asdict
from uuid import UUID

from django.conf import settings
from django.views.decorators.debug import sensitive_variables
from rest_framework.request import Request
from rest_framework.response import Response

from orbit.errors import Invalid
from orbit.http.envelope import answer
from orbit.http.login_age import require_recent_login
from orbit.http.paging import Cursor, page, read_limit
from tokens_app import queries
from tokens_app.actions.edit_token import edit_token
from tokens_app.actions.issue_token import issue_token
from tokens_app.api.shapes import EditIn, IssueIn, edit_of, grant_of
from tokens_app.api.views import EDIT, ISSUE, VIEW, WorkbenchAPIView
from tokens_app.domain.issued import IssuedToken
from tokens_app.domain.samples import SHELLS, samples

FILTERS = ", ".join(queries.TokenFilter)


class TokenList(WorkbenchAPIView):
    """GET and POST /workbench/api/tokens."""

    permissions = {"GET": (VIEW,), "POST": (ISSUE,)}
    query_parameters = ("limit", "cursor", "filter", "search")

    def get(self, request: Request) -> Response:
        """Tokens, newest first."""
        limit = read_limit(self.query)
        cursor = Cursor("tokens", self.user.pk, "workbench.tokens")
        found = queries.tokens_page(
            wanted=_filter(self.query.get("filter", "all")),
            search=self.query.get("search", "")[:200],
            after=(
                cursor.read(self.query["cursor"], queries.TokenPosition)
                if "cursor" in self.query
                else None
            ),
            limit=limit,
        )
        return answer(
            request,
            page(
                found,
                limit,
                lambda row: cursor.sign((row.created_at, row.id)),
                item=asdict,
            ),
        )

    @sensitive_variables("body", "issued")
    def post(self, request: Request) -> Response:
        """Issue a token: 201 with its plain text, this once."""
        body = self.body(IssueIn)
        grant = grant_of(body)
        require_recent_login(request, password=body.password)
        issued = issue_token(grant=grant, by=self.actor)
        return answer(request, issued_shape(issued), status=201)


class TokenOne(WorkbenchAPIView):
    """GET and PATCH /workbench/api/tokens/{token_id}."""

    permissions = {"GET": (VIEW,), "PATCH": (EDIT,)}

    def get(self, request: Request, token_id: UUID) -> Response:
        """The token without anything secret."""
        return answer(request, asdict(queries.token_detail(token_id)))

    def patch(self, request: Request, token_id: UUID) -> Response:
        """Change what the body names; answers the token as it is then."""
        edit_token(token_id=token_id, edit=edit_of(self.body(EditIn)), by=self.actor)
        return answer(request, asdict(queries.token_detail(token_id)))


class TokenSamples(WorkbenchAPIView):
    """GET /workbench/api/tokens/{token_id}/samples."""

    permissions = {"GET": (VIEW,)}
    query_parameters = ("shell",)

    def get(self, request: Request, token_id: UUID) -> Response:
        """Calls that the token's scopes allow; the token itself is a variable."""
        shell = self.query.get("shell", "curl")
        if shell not in SHELLS:
            raise Invalid(f"Choose one of {', '.join(SHELLS)}.", field="shell")
        token = queries.token_detail(token_id)
        found = samples(
            base_url=settings.BASE_URL,
            audience=token.audience,
            scopes=token.scopes,
            token=None,
            shell=shell,
        )
        return answer(request, {"items": [asdict(sample) for sample in found]})


@sensitive_variables("issued")
def issued_shape(issued: IssuedToken) -> dict[str, object]:
    """The one answer that carries a plain text; what the token reaches is told too."""
    detail = queries.token_detail(issued.token_id)
    return {"plaintext": issued.plaintext, "token": asdict(detail)}


def _filter(name: str) -> queries.TokenFilter:
    try:
        return queries.TokenFilter(name)
    except ValueError:
        raise Invalid(f"Choose one of {FILTERS}.", field="filter") from None
