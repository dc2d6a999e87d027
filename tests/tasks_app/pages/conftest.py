"""What the tests of the console share."""

from tests.tokens_app.api.conftest import _cheap_passwords

__all__ = ["_cheap_passwords"]
