"""Whether a probe of a task may be started: asked by the act, and by pages before."""

from collections.abc import Sequence
from uuid import UUID

from orbit.transactions import require_transaction
from tasks_app.domain.lifecycle import OwnerKind, State
from tasks_app.domain.ownership import refuse_probe
from tasks_app.domain.probes import probe_handler
from tasks_app.models.locking import LockedTask, conflict
from tasks_app.models.statements.probe import LOCK_PROBED, OPEN_PROBE
from tasks_app.models.statements.run import rows


def lock_probed(task_ids: Sequence[UUID]) -> None:
    """Lock the tasks that probes looked at; before any quota, as a task is."""
    require_transaction()
    rows(LOCK_PROBED, {"tasks": list(task_ids)})


def check_probeable(locked: LockedTask) -> None:
    """Raise StateConflict unless a probe of the task may be started now."""
    task = locked.task
    if task.state != State.NEEDS_REVIEW:
        raise conflict(
            locked,
            "STATE",
            f"Only a task in NEEDS_REVIEW is probed; this one is {task.state}.",
        )
    if task.owner is OwnerKind.PROBE:
        raise conflict(
            locked, "OWNER", "This is a probe itself. Probe the task it looked at."
        )
    refusal = refuse_probe(task.owner, handler=task.handler)
    if refusal is None and probe_handler(task.handler) is None:
        refusal = "The handler's name leaves no room for a probe's."
    if refusal is not None:
        raise conflict(locked, "NO_PROBE", refusal)
    found = rows(OPEN_PROBE, {"task": task.id})
    if found:
        raise conflict(locked, "PROBE_RUNNING", _what_of_it(*found[0]))


def _what_of_it(probe_id: UUID, state: str) -> str:
    if state == State.NEEDS_REVIEW:
        return (
            f"The probe {probe_id.hex} awaits a review itself. Settle it, then start "
            "another."
        )
    return (
        f"The probe {probe_id.hex} is not finished. Wait for what it finds, or cancel "
        "it."
    )
