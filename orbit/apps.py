"""The ground as a Django app."""

from django.apps import AppConfig
from django.core.checks import register

from orbit import checks


class OrbitConfig(AppConfig):
    """Registers the checks of Orbit's own settings."""

    name = "orbit"

    def ready(self) -> None:
        """Called by Django once all apps are loaded."""
        register(checks.debug_is_off)
        register(checks.base_url_is_sane)
