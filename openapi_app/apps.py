"""Jobs and the open job API as a Django application."""

from django.apps import AppConfig


class OpenApiConfig(AppConfig):
    """Speaks for scheduled tasks at the engine's door."""

    name = "openapi_app"
    verbose_name = "Jobs"
