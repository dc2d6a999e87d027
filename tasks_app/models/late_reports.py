"""What came late, written together with the contradictions that it opens."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from orbit.exact_json import encode
from orbit.ids import new_id
from orbit.transactions import require_transaction
from tasks_app.domain.contradictions import (
    Contradiction,
    Declared,
    contradiction_of,
    contradiction_of_finding,
)
from tasks_app.domain.lifecycle import Outcome, State
from tasks_app.domain.probes import Finding
from tasks_app.domain.reports import Report
from tasks_app.models.record import TaskRecord
from tasks_app.models.statements.late import ADD_CONTRADICTIONS, ADD_EVIDENCE
from tasks_app.models.statements.run import as_json, rows

EVENT_KIND = "task.contradicted"


@dataclass(frozen=True, slots=True, kw_only=True)
class LateReport:
    """A report on an attempt that ended as `outcome`, and its task as it stands."""

    task: TaskRecord
    report: Report
    outcome: Outcome
    evidence_id: UUID = field(default_factory=new_id)

    @property
    def attempt_id(self) -> UUID:
        """The attempt that was reported on."""
        return self.report.attempt_id

    @property
    def contradiction(self) -> Contradiction | None:
        """How it contradicts the task's outcome, or None."""
        last = self.task.last_outcome
        return contradiction_of(
            self.report,
            declared=Declared(
                state=State(self.task.state),
                result=self.task.result,
                last_outcome=None if last is None else Outcome(last),
            ),
            attempt=self.outcome,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class LateFinding:
    """What a probe found of a task as it stands; `attempt_id` is the probe's."""

    task: TaskRecord
    attempt_id: UUID
    finding: Finding
    evidence_id: UUID = field(default_factory=new_id)

    @property
    def contradiction(self) -> Contradiction | None:
        """How it contradicts the task's outcome, or None."""
        return contradiction_of_finding(
            self.finding.proposed, declared=State(self.task.state)
        )


Late = LateReport | LateFinding


def keep_late(late: Sequence[Late], *, actor_id: UUID, now: datetime) -> None:
    """Keep each as evidence, once, and open the contradictions that are new.

    The tasks must be locked by the caller's transaction; none of them changes.
    """
    require_transaction()
    evidence = as_json([_evidence(entry) for entry in late])
    added = rows(ADD_EVIDENCE, {"evidence": evidence, "actor": actor_id, "now": now})
    new = {evidence_id for (evidence_id,) in added}
    opened = [
        _contradiction(entry, found, now)
        for entry in late
        if entry.evidence_id in new and (found := entry.contradiction) is not None
    ]
    if opened:
        rows(ADD_CONTRADICTIONS, {"contradictions": as_json(opened), "now": now})


def _evidence(entry: Late) -> dict[str, Any]:
    told = entry.report if isinstance(entry, LateReport) else entry.finding
    return {
        "id": entry.evidence_id,
        "namespace_id": entry.task.namespace_id,
        "task_id": entry.task.id,
        "attempt_id": entry.attempt_id,
        "kind": told.kind,
        "content": told.content,
        "digest": told.digest,
    }


def _contradiction(entry: Late, found: Contradiction, now: datetime) -> dict[str, Any]:
    task, contradiction_id = entry.task, new_id()
    return {
        "id": contradiction_id,
        "namespace_id": task.namespace_id,
        "queue_id": task.queue_id,
        "task_id": task.id,
        "attempt_id": entry.attempt_id,
        "evidence_id": entry.evidence_id,
        "revision": task.revision,
        "kind": found.kind,
        "declared": found.declared,
        "claimed": found.claimed,
        "declared_digest": found.declared_digest,
        "claimed_digest": found.claimed_digest,
        "event": _event(entry, found, contradiction_id=contradiction_id, now=now),
    }


def _event(
    entry: Late, found: Contradiction, *, contradiction_id: UUID, now: datetime
) -> str:
    task = entry.task
    body: dict[str, object] = {
        "kind": EVENT_KIND,
        "task_id": task.id,
        "queue_id": task.queue_id,
        "state": task.state,
        "revision": str(task.revision),
        "handler": task.handler,
        "attempt_count": task.attempt_count,
        "contradiction_id": contradiction_id,
        "evidence_id": entry.evidence_id,
        "attempt_id": entry.attempt_id,
        "disagreement": found.kind,
        "claimed": found.claimed,
        "occurred_at": now,
    }
    if task.business_key is not None:
        body["business_key"] = task.business_key
    return encode(body).decode()
