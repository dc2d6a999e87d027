"""What the caller's own token may do."""

from rest_framework.request import Request
from rest_framework.response import Response

from openapi_app.api import operations
from openapi_app.api.envelope import answer
from openapi_app.api.shapes import token_shape
from openapi_app.api.views import OpenAPIView
from openapi_app.gateways.rate_limit import look_if_possible


class TokenDetail(OpenAPIView):
    """GET /openapi/v1/token."""

    operations = {"GET": operations.GET_TOKEN}

    def get(self, request: Request) -> Response:
        """Scopes, range, expiry and what is left of the quota."""
        triggers = self.bucket("triggers")
        quotas = [
            (self.bucket("reads"), self.quota),
            (triggers, look_if_possible(triggers)),
        ]
        return answer(request, token_shape(self.principal, quotas))
