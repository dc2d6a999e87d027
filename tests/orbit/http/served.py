"""The WSGI application of the test paths, for a real server."""

from django.conf import settings

from orbit.wsgi import application

settings.ROOT_URLCONF = "tests.orbit.http.urls"

__all__ = ["application"]
