"""What every test of the task engine shares."""

import pytest
from django.test import Client

from tests.tasks_app.api import contract


@pytest.fixture(autouse=True)
def _every_answer_is_as_documented(monkeypatch):
    """Hold each answer of /v1 that any test gets to the OpenAPI document."""
    send = Client.request

    def request(self, **environ):
        response = send(self, **environ)
        contract.hold(
            method=environ["REQUEST_METHOD"],
            path=environ["PATH_INFO"],
            status=response.status_code,
            headers=response.headers,
            text=b"" if response.streaming else response.content,
        )
        return response

    monkeypatch.setattr(Client, "request", request)
