"""Take workers' reports: each ends its attempt, or is kept as late evidence."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import NamedTuple
from uuid import UUID

from orbit.errors import Refusal
from tasks_app.domain.access import Actor, Reach
from tasks_app.domain.errors import AttemptNotFound, LeaseConflict
from tasks_app.domain.lifecycle import FINAL, Outcome, State
from tasks_app.domain.reports import Report
from tasks_app.models.late_reports import LateReport, keep_late
from tasks_app.models.record import TaskRecord, task_from
from tasks_app.models.settlement import tell_owners
from tasks_app.models.statements.quota import patiently
from tasks_app.models.statements.read import LOCK_REPORTED
from tasks_app.models.statements.run import rows
from tasks_app.models.transition import Transition, write_transitions


class _Reported(NamedTuple):
    task: TaskRecord
    attempt_id: UUID
    number: int
    outcome: str
    lease_token_hash: bytes
    report_digest: bytes | None


class _Found(NamedTuple):
    attempts: dict[UUID, _Reported]
    now: datetime


_ATTEMPT_COLUMNS = len(_Reported._fields) - 1
# Where nothing was found, nothing is written, and no moment is needed.
NEVER = datetime.max.replace(tzinfo=UTC)


def report_attempts(
    reports: Sequence[Report], *, actor: Actor, reach: Reach
) -> list[TaskRecord | Refusal]:
    """Answer each report in order: the task as it stands, or why it was refused.

    A report counts while its attempt is active and its token is the lease's own, even
    if the lease's time has run out unnoticed. The same report again is answered like
    the first. A report on an ended lease is kept as evidence and refused with
    LeaseConflict; where it contradicts the task's outcome, a contradiction is opened.
    A result too large is refused and the lease stays reportable.
    """
    answers: dict[int, TaskRecord | Refusal] = {}
    for turn in _turns(reports):
        sound = []
        for index in turn:
            try:
                reports[index].check()
            except Refusal as refusal:
                answers[index] = refusal
            else:
                sound.append(index)
        if sound:
            batch = [reports[index] for index in sound]
            taken = patiently(
                lambda is_patient, batch=batch: _take(
                    batch, actor=actor, reach=reach, is_patient=is_patient
                )
            )
            answers.update(zip(sound, taken, strict=True))
    return [answers[index] for index in range(len(reports))]


def _turns(reports: Sequence[Report]) -> list[list[int]]:
    """No attempt twice in one turn, so that a repetition meets the first's effect."""
    turns: list[list[int]] = []
    seen: dict[UUID, int] = {}
    for index, report in enumerate(reports):
        turn = seen.get(report.attempt_id, 0)
        seen[report.attempt_id] = turn + 1
        if turn == len(turns):
            turns.append([])
        turns[turn].append(index)
    return turns


def _take(
    reports: Sequence[Report], *, actor: Actor, reach: Reach, is_patient: bool
) -> list[TaskRecord | Refusal]:
    found = _lock(reports, reach)
    answers: dict[UUID, TaskRecord | Refusal] = {}
    transitions: list[Transition] = []
    late: list[LateReport] = []
    for report in reports:
        try:
            reported = _own(report, found.attempts)
            if reported.outcome == Outcome.ACTIVE:
                transitions.append(_transition(report, reported, found.now))
            else:
                answers[report.attempt_id] = _answer_late(report, reported, late)
        except Refusal as refusal:
            answers[report.attempt_id] = refusal
    if late:
        keep_late(late, actor_id=actor.id, now=found.now)
    if transitions:
        moved = write_transitions(
            transitions, actor=actor, now=found.now, is_patient=is_patient
        )
        tell_owners(moved)
        attempts = [entry.attempt_id for entry in transitions]
        answers |= {
            attempt: task
            for attempt, task in zip(attempts, moved, strict=True)
            if attempt is not None
        }
    return [answers[report.attempt_id] for report in reports]


def _lock(reports: Sequence[Report], reach: Reach) -> _Found:
    locked = rows(
        LOCK_REPORTED,
        {
            "attempts": [report.attempt_id for report in reports],
            "namespace": reach.namespace_id,
            "queues": None if reach.queue_ids is None else list(reach.queue_ids),
        },
    )
    attempts = {
        row[0]: _Reported(
            task_from(row, offset=_ATTEMPT_COLUMNS), *row[:_ATTEMPT_COLUMNS]
        )
        for row in locked
    }
    return _Found(attempts=attempts, now=locked[-1][-1] if locked else NEVER)


def _own(report: Report, attempts: dict[UUID, _Reported]) -> _Reported:
    reported = attempts.get(report.attempt_id)
    if reported is None:
        raise AttemptNotFound
    if bytes(reported.lease_token_hash) != report.token_hash:
        raise LeaseConflict(
            "The lease token is not this attempt's own. Nothing was recorded.",
            state=State(reported.task.state),
            revision=reported.task.revision,
        )
    return reported


def _answer_late(
    report: Report, reported: _Reported, late: list[LateReport]
) -> TaskRecord | Refusal:
    if reported.report_digest is not None and (
        bytes(reported.report_digest).hex() == report.digest
    ):
        return reported.task
    late.append(
        LateReport(task=reported.task, report=report, outcome=Outcome(reported.outcome))
    )
    state = State(reported.task.state)
    is_done = "is done" if state in FINAL else "is no longer yours"
    return LeaseConflict(
        f"This lease has ended and the task {is_done}. The report was kept as "
        "evidence; the task did not change. Do not send it again.",
        state=state,
        revision=reported.task.revision,
    )


def _transition(report: Report, reported: _Reported, now: datetime) -> Transition:
    task = reported.task
    move = report.decide(task.standing, revision=task.revision, now=now)
    return Transition(
        task=task,
        move=move,
        action=f"task.{report.kind}",
        attempt_id=report.attempt_id,
        report_digest=report.digest,
        after={
            "attempt_id": report.attempt_id,
            "attempt_number": reported.number,
            "outcome": move.outcome,
        },
    )
