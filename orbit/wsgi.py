"""The WSGI entry point of the web processes."""

import os

from django.core.wsgi import get_wsgi_application

from orbit.http.chunked import MeasuredBody

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "orbit.settings")

application = MeasuredBody(get_wsgi_application())
