"""What the tests of the pages share."""

import pytest

from tests.openapi_app.api.builders import a_place
from tests.tokens_app.api.conftest import _cheap_passwords

__all__ = ["_cheap_passwords"]


@pytest.fixture
def place(db):  # noqa: ARG001 - it has to be there
    """One namespace with a queue and a group."""
    return a_place(number=78)
