"""The least that Django and DRF can answer: the ceiling of any view on them."""

from django.conf import settings
from django.core.handlers.wsgi import WSGIHandler
from django.http import HttpRequest
from django.urls import path

settings.configure(
    SECRET_KEY="benchmarks only, nothing is signed with it",  # noqa: S106
    ALLOWED_HOSTS=["127.0.0.1"],
    ROOT_URLCONF=__name__,
    MIDDLEWARE=[],
    INSTALLED_APPS=["rest_framework"],
    REST_FRAMEWORK={
        "DEFAULT_AUTHENTICATION_CLASSES": [],
        "DEFAULT_PERMISSION_CLASSES": [],
        "UNAUTHENTICATED_USER": None,
    },
    LOGGING={"version": 1},
)

import django  # noqa: E402 (settings come first)

django.setup()

from rest_framework.renderers import JSONRenderer  # noqa: E402
from rest_framework.response import Response  # noqa: E402
from rest_framework.views import APIView  # noqa: E402


class Minimal(APIView):
    """Answers one small object."""

    renderer_classes = (JSONRenderer,)

    def get(self, _request: HttpRequest) -> Response:
        """Nothing but the answer."""
        return Response({"ok": True})


urlpatterns = [path("", Minimal.as_view())]
application = WSGIHandler()
