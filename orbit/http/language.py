"""Which language a page speaks; APIs speak English to everybody."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.utils import translation
from django.utils.cache import patch_vary_headers

APIS = ("/v1/", "/openapi/", "/workbench/api/")

Handler = Callable[[HttpRequest], HttpResponse]


class PageLanguageMiddleware:
    """Pages in the language of the cookie, else of the browser."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """The answer of the inner layers, in the visitor's language."""
        if request.path_info.startswith(APIS):
            return self.get_response(request)
        language = translation.get_language_from_request(request)
        with translation.override(language):
            response = self.get_response(request)
        response.headers.setdefault("Content-Language", language)
        patch_vary_headers(response, ("Accept-Language", "Cookie"))
        return response
