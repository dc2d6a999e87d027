"""The ground as a Django app."""

from django.apps import AppConfig
from django.core.checks import register
from django.core.signals import request_started

from orbit import checks
from orbit.idle_connections import close_dead_connections


class OrbitConfig(AppConfig):
    """Registers the checks of Orbit's own settings, and what comes before a request."""

    name = "orbit"

    def ready(self) -> None:
        """Called by Django once all apps are loaded."""
        register(checks.debug_is_off)
        register(checks.base_url_is_sane)
        request_started.connect(close_dead_connections, dispatch_uid="orbit.dead")
