"""Orbit's Celery application with the handlers of the tests."""

from orbit.celery import app
from tests.openapi_app.celery import handlers

__all__ = ["app", "handlers"]
