"""How to call an API with a token: always there, never with a secret in it."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse

from tokens_app import queries
from tokens_app.domain.samples import SHELLS, samples
from tokens_app.domain.scope import SCOPES
from tokens_app.pages import words
from tokens_app.pages.answers import ANSWERS
from tokens_app.pages.views import VIEW, WorkbenchPage

SHELL_NAMES = {"curl": "cURL", "powershell": "PowerShell", "python": "Python"}


class GuidePage(WorkbenchPage):
    """/workbench/tokens/guide?audience=…&shell=…: everything an API offers."""

    permissions = (VIEW,)
    template = "tokens_app/guide.html"

    def get(self, request: HttpRequest) -> HttpResponse:
        """The guide for every scope."""
        audience = request.GET.get("audience", "OPEN_JOBS")
        if audience not in SCOPES:
            raise Http404
        return self.guide(request, audience=audience, scopes=SCOPES[audience])

    def guide(
        self,
        request: HttpRequest,
        *,
        audience: str,
        scopes: Sequence[str],
        **more: Any,  # noqa: ANN401 - the page decides
    ) -> HttpResponse:
        """The guide for these scopes, in the shell that the address names."""
        shell = request.GET.get("shell", "curl")
        if shell not in SHELLS:
            raise Http404
        return self.page(
            audience=audience,
            audiences=words.AUDIENCES.items(),
            base_url=settings.BASE_URL,
            scopes=[(name, words.SCOPES[name]) for name in scopes],
            shell=shell,
            shells=[(name, SHELL_NAMES[name]) for name in SHELLS],
            answers=ANSWERS[audience],
            samples=samples(
                base_url=settings.BASE_URL,
                audience=audience,
                scopes=scopes,
                token=None,
                shell=shell,
            ),
            **more,
        )


class TokenGuidePage(GuidePage):
    """/workbench/tokens/{token_id}/guide?shell=…: what this token can call."""

    def get(self, request: HttpRequest, token_id: UUID) -> HttpResponse:  # type: ignore[override]
        """The guide for the token's scopes and its range."""
        token = queries.token_detail(token_id)
        return self.guide(
            request,
            audience=token.audience,
            scopes=token.scopes,
            token=token,
            reach=queries.token_reach(token_id),
        )
