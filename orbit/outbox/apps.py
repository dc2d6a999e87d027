"""The outbox as a Django application."""

from django.apps import AppConfig


class OutboxConfig(AppConfig):
    """Holds the result events."""

    name = "orbit.outbox"
    label = "outbox"
