"""When a late report or finding contradicts the outcome that a task already has."""

from dataclasses import dataclass
from enum import StrEnum

from orbit.exact_json import digest
from tasks_app.domain.lifecycle import FINAL, Outcome, State
from tasks_app.domain.reports import Report, ReportKind

_CLAIMS = {
    ReportKind.SUCCEED: State.SUCCEEDED,
    ReportKind.FAIL: State.FAILED,
    ReportKind.CANCELLED: State.CANCELLED,
}


class Disagreement(StrEnum):
    """What a late report and the task's outcome disagree about."""

    OUTCOME = "OUTCOME"
    RESULT = "RESULT"


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """The outcome of a task as it stands when a late report arrives.

    `last_outcome` is that of its last attempt: SUCCEEDED says that a worker's report
    made the task succeed, anything else that a person declared it.
    """

    state: State
    result: str | None
    last_outcome: Outcome | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Contradiction:
    """What was declared and what the late report claims; digests of canonical JSON."""

    kind: Disagreement
    declared: State
    claimed: State
    declared_digest: str | None = None
    claimed_digest: str | None = None


def contradiction_of(
    report: Report, *, declared: Declared, attempt: Outcome
) -> Contradiction | None:
    """How the late report of an attempt that ended as `attempt` contradicts, or None.

    A task that is not final has no outcome yet, and `unknown` claims none. A report
    that nothing happened agrees with FAILED and CANCELLED. It agrees with a success
    that another attempt reported: both may be true.
    """
    claimed = _CLAIMS.get(report.kind)
    if claimed is None or declared.state not in FINAL:
        return None
    if claimed is State.SUCCEEDED:
        return _of_success(report, declared)
    if declared.state is not State.SUCCEEDED:
        return None
    is_anothers = declared.last_outcome is Outcome.SUCCEEDED
    if is_anothers and attempt is not Outcome.SUCCEEDED:
        return None
    return Contradiction(
        kind=Disagreement.OUTCOME, declared=declared.state, claimed=claimed
    )


def contradiction_of_finding(
    proposed: State | None, *, declared: State
) -> Contradiction | None:
    """How what a probe found contradicts the outcome, or None.

    It knows whether there is an effect, not which result: that it found none agrees
    with FAILED and CANCELLED.
    """
    if proposed is None or declared not in FINAL:
        return None
    if (proposed is State.SUCCEEDED) == (declared is State.SUCCEEDED):
        return None
    return Contradiction(kind=Disagreement.OUTCOME, declared=declared, claimed=proposed)


def _of_success(report: Report, declared: Declared) -> Contradiction | None:
    claimed_digest = digest(report.result or "null")
    if declared.state is not State.SUCCEEDED:
        return Contradiction(
            kind=Disagreement.OUTCOME,
            declared=declared.state,
            claimed=State.SUCCEEDED,
            claimed_digest=claimed_digest,
        )
    declared_digest = digest(declared.result or "null")
    if claimed_digest == declared_digest:
        return None
    return Contradiction(
        kind=Disagreement.RESULT,
        declared=State.SUCCEEDED,
        claimed=State.SUCCEEDED,
        declared_digest=declared_digest,
        claimed_digest=claimed_digest,
    )
