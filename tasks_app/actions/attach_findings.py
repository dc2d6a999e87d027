"""Keep what probes found as evidence of the tasks that they looked at."""

import hashlib
from collections.abc import Collection
from uuid import UUID

from orbit.ids import new_id
from orbit.transactions import require_transaction
from tasks_app.domain.probes import EVIDENCE_KIND, finding_of
from tasks_app.models.statements.late import ADD_EVIDENCE
from tasks_app.models.statements.probe import FOUND
from tasks_app.models.statements.run import as_json, rows


def attach_findings(*, settled: Collection[UUID]) -> None:
    """A step of the settling of these probes; the tasks looked at stay as they are.

    Whoever decided on the dossier before is told that there is more.
    """
    require_transaction()
    for probe_id, task_id, namespace_id, result, actor, now, attempt_id in rows(
        FOUND, {"tasks": list(settled)}
    ):
        content = finding_of(result, probe_task_id=probe_id)
        evidence = {
            "id": new_id(),
            "namespace_id": namespace_id,
            "task_id": task_id,
            "attempt_id": attempt_id,
            "kind": EVIDENCE_KIND,
            "content": content,
            "digest": hashlib.sha256(content.encode()).hexdigest(),
        }
        rows(
            ADD_EVIDENCE, {"evidence": as_json([evidence]), "actor": actor, "now": now}
        )
