"""The guard of a step: a write that belongs to its caller's transaction."""

from django.db import connection


def require_transaction() -> None:
    """Raise RuntimeError unless the caller has opened a transaction."""
    if not connection.in_atomic_block:
        raise RuntimeError("This step must run inside its caller's transaction.")
