"""Let a gated task start, as a step of its owner's transaction."""

from datetime import datetime
from uuid import UUID

from orbit.transactions import require_transaction
from tasks_app.models.statements.limits import OPEN_GATE
from tasks_app.models.statements.run import rows


def open_gate(*, task_id: UUID, now: datetime) -> bool:
    """Whether the gate was shut and is open now; twice does no harm.

    Never waits: the gate of a task that somebody else holds stays shut.
    """
    require_transaction()
    return bool(rows(OPEN_GATE, {"task": task_id, "now": now}))
