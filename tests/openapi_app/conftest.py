"""What all tests of jobs share."""

import pytest

from openapi_app import subscribers


@pytest.fixture
def sent(monkeypatch):
    """The executions that were sent to Celery, in order; the broker is left out."""
    found: list[object] = []
    monkeypatch.setattr(subscribers, "send_execution", found.append)
    return found
