"""What a decision about a task rests on, read in one statement."""

from typing import Any
from uuid import UUID

from tasks_app.domain.dossier import AttemptGround, Grounds
from tasks_app.domain.errors import DossierChanged, NewEvidence
from tasks_app.domain.lifecycle import State
from tasks_app.models.record import TaskRecord, task_from
from tasks_app.models.statements.look import EVIDENCE_AMONG, GROUNDS
from tasks_app.models.statements.run import rows

MAX_NEW_SHOWN = 50

TaskAndColumns = tuple[TaskRecord, tuple[Any, ...]]


def task_with_grounds(task_id: UUID) -> TaskAndColumns | None:
    """The task, and the columns of its grounds of the same moment; or None."""
    found = rows(GROUNDS, {"task": task_id})
    if not found:
        return None
    return task_from(found[0]), found[0][len(TaskRecord._fields) :]


def grounds_from(
    task: TaskRecord, columns: tuple[Any, ...], *, does_owner_agree: bool
) -> Grounds:
    """The grounds of a task that was read together with `columns`."""
    ids, fences, outcomes, evidence, contradictions = columns
    return Grounds(
        task_id=task.id,
        revision=task.revision,
        state=task.state,
        owner_kind=task.owner_kind,
        owner_id=task.owner_id,
        does_owner_agree=does_owner_agree,
        attempts=tuple(
            AttemptGround(id=attempt_id, lease_seq=fence, outcome=outcome)
            for attempt_id, fence, outcome in zip(ids, fences, outcomes, strict=True)
        ),
        evidence=tuple(evidence),
        contradictions=tuple(contradictions),
    )


def check_dossier(task_id: UUID, expected: str) -> None:
    """Refuse a decision on a dossier that is not the present one.

    The owner must have agreed to the decision already. Under the task's lock the
    answer holds until the transaction ends, for late reports wait for that lock.
    """
    found = task_with_grounds(task_id)
    if found is None:
        raise LookupError("The task was there a moment ago.")
    task, columns = found
    grounds = grounds_from(task, columns, does_owner_agree=True)
    if grounds.digest == expected:
        return
    since = grounds.evidence_since(expected)
    shown = (grounds.evidence if since is None else since)[-MAX_NEW_SHOWN:]
    raise DossierChanged(
        state=State(task.state),
        revision=task.revision,
        digest=grounds.digest,
        new=None if since is None else len(since),
        evidence=[
            NewEvidence._make(row)
            for row in rows(EVIDENCE_AMONG, {"evidence": list(shown)})
        ],
    )
