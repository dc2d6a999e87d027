"""Let tasks whose time has come be claimed."""

from django.db import transaction

from tasks_app.models.statements.read import PROMOTE
from tasks_app.models.statements.run import rows


def promote_tasks(*, limit: int) -> int:
    """Make up to `limit` due tasks claimable; answers how many."""
    with transaction.atomic(durable=True):
        return len(rows(PROMOTE, {"limit": limit}))
