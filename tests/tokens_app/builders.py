"""Tokens as the tests need them, and ways to look at them from outside."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db import connection, connections

from orbit.ids import new_id
from tokens_app.models import ServiceAccountToken, TokenAudit
from tokens_app.public import (
    Actor,
    IssuedToken,
    Principal,
    TokenGrant,
    authenticate,
    issue_token,
)

SOMEBODY = Actor(name="user:ada", address="192.0.2.7")
SCOPES = {"TASKS": ["tasks:read"], "OPEN_JOBS": ["jobs:read"]}


def a_grant(**changes: Any) -> TokenGrant:
    """A valid grant, but for what the test changes."""
    audience = changes.get("audience", "TASKS")
    wanted = {
        "name": "billing",
        "audience": audience,
        "namespace_id": new_id(),
        "scopes": SCOPES.get(audience, ["tasks:read"]),
        "expires": timedelta(days=30),
    }
    return TokenGrant(**{**wanted, **changes})


def a_token(**changes: Any) -> IssuedToken:
    """An issued token, valid but for what the test changes."""
    return issue_token(grant=a_grant(**changes), by=SOMEBODY)


def bearer(plaintext: str) -> str:
    """The header that presents a token."""
    return f"Bearer {plaintext}"


def call(
    plaintext: str, *, audience: str = "TASKS", address: str | None = "192.0.2.1"
) -> Principal:
    """One call with this token."""
    return authenticate(
        authorization=bearer(plaintext), audience=audience, address=address
    )


def row_of(issued: IssuedToken) -> ServiceAccountToken:
    """The token's row as it is now."""
    return ServiceAccountToken.objects.get(id=issued.token_id)


def acts_on(issued: IssuedToken) -> list[str]:
    """The audited acts on the token, oldest first."""
    records = TokenAudit.objects.filter(token_id=issued.token_id)
    return [record.action for record in records.order_by("created_at", "id")]


def age(token_id: UUID, *, by: timedelta) -> None:
    """Let the row be as if `by` had passed."""
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE tokens_app_serviceaccounttoken t SET issued_at = issued_at - i,"
            " expires_at = expires_at - i, last_used_at = last_used_at - i,"
            " previous_valid_until = previous_valid_until - i"
            " FROM make_interval(secs => %s) i WHERE id = %s",
            [by.total_seconds(), token_id],
        )


@contextmanager
def another_connection():
    """A second session with the database."""
    other = connections["default"].copy()
    try:
        yield other
    finally:
        other.close()


def at_once(count: int, act: Callable[[], Any]) -> list[Any]:
    """What `count` threads got that ran `act` at the same moment."""
    together = threading.Barrier(count)

    def run() -> object:
        connection.ensure_connection()
        together.wait(timeout=30)
        try:
            return act()
        except Exception as error:  # noqa: BLE001 - the test judges it
            return error
        finally:
            connection.close()

    with ThreadPoolExecutor(count) as pool:
        started = [pool.submit(run) for _ in range(count)]
        return [future.result() for future in started]
