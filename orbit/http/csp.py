"""What a browser may do with an answer: nothing at all if it is JSON."""

from csp.constants import HEADER
from csp.middleware import CSPMiddleware
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from orbit.http.exact_json import MEDIA_TYPE

NOTHING = "default-src 'none'; frame-ancestors 'none'"


class StrictCSPMiddleware(CSPMiddleware):
    """The policy of the settings for pages, and a fixed one for JSON.

    Composing a policy costs as much as parsing and writing an answer of an API.
    """

    def process_response(
        self, request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        """The response with its Content-Security-Policy."""
        if response.headers.get("Content-Type") != MEDIA_TYPE:
            return super().process_response(request, response)
        response.headers[HEADER] = NOTHING
        return response
