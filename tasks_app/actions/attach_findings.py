"""Keep what probes found as evidence of the tasks that they looked at."""

from collections.abc import Collection
from uuid import UUID

from orbit.transactions import require_transaction
from tasks_app.domain.probes import finding_of
from tasks_app.models.late_reports import LateFinding, keep_late
from tasks_app.models.record import task_from
from tasks_app.models.statements.probe import FOUND
from tasks_app.models.statements.read import TASKS
from tasks_app.models.statements.run import rows


def attach_findings(*, settled: Collection[UUID]) -> None:
    """A step of the settling of these probes; the tasks looked at stay as they are.

    Whoever decided on the dossier before is told that there is more. What disagrees
    with an outcome that the task has by now is a contradiction, as of a late report.
    The tasks that were looked at must be locked.
    """
    require_transaction()
    found = rows(FOUND, {"tasks": list(settled)})
    if not found:
        return
    looked_at = {
        task.id: task
        for task in map(task_from, rows(TASKS, {"tasks": [row[1] for row in found]}))
    }
    for probe_id, task_id, result, actor_id, now, attempt_id in found:
        finding = LateFinding(
            task=looked_at[task_id],
            attempt_id=attempt_id,
            finding=finding_of(result, probe_task_id=probe_id),
        )
        keep_late([finding], actor_id=actor_id, now=now)
