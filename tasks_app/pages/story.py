"""What a dossier tells, put into words: timeline, late reports, audit and lineage."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import msgspec
from django.urls import reverse
from django.utils.translation import gettext

from orbit.words import Word
from tasks_app.domain.access import ENGINE_ID, ActorKind
from tasks_app.domain.probes import EVIDENCE_KIND, found_in
from tasks_app.models import Evidence, OperationAudit
from tasks_app.models.record import TaskRecord
from tasks_app.pages import words
from tasks_app.pages.texts import Excerpt
from tasks_app.pages.timeline import (
    Happening,
    Timeline,
    draw,
    happenings_of_attempts,
    happenings_of_evidence,
)
from tasks_app.queries.dossier import Dossier
from tasks_app.queries.lineage import Generation
from tasks_app.queries.people import user_names
from tokens_app.public import token_names

SETTLING = frozenset({"task.review", "task.approve"})


@dataclass(frozen=True, slots=True, kw_only=True)
class LateReport:
    """What came when the lease had ended, or a probe found, word for word."""

    id: UUID
    what: Word
    attempt_number: int | None
    received_at: datetime
    content: Excerpt
    is_proposal: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """An operation with who did it, in words."""

    operation: OperationAudit
    what: Word
    who: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Kin:
    """A generation of the retry chain, and what it changed."""

    task: Generation
    state: Word
    is_here: bool
    changes: Sequence[tuple[Word, object, object]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """All of it; the audit is empty for whoever may not read it."""

    timeline: Timeline
    late_reports: Sequence[LateReport]
    contradictions: Sequence[tuple[Word, Word, datetime]]
    audit: Sequence[Told]
    has_more_audit: bool
    lineage: Sequence[Kin]
    settled: Told | None


class _EventHead(msgspec.Struct):
    kind: str


def tell(dossier: Dossier, *, now: datetime, may_audit: bool) -> Story:
    """The story of this dossier, with its operations if they may be read."""
    audit = _audit(dossier.operations.items) if may_audit else []
    return Story(
        timeline=draw(
            _happenings(dossier, audit, now=now), begin=dossier.task.created_at
        ),
        late_reports=_late_reports(dossier),
        contradictions=[
            (words.STATES[it.declared], words.STATES[it.claimed], it.created_at)
            for it in dossier.contradictions.items
        ],
        audit=audit[::-1],
        has_more_audit=may_audit and dossier.operations.has_more,
        lineage=[_kin(it) for it in dossier.lineage.generations],
        settled=next((it for it in audit if it.operation.action in SETTLING), None),
    )


def late_report(
    evidence: Evidence, *, task: TaskRecord, numbers: Mapping[UUID, int]
) -> LateReport:
    """One late report in words."""
    url = reverse("recovery:evidence", args=[task.id, evidence.id])
    return LateReport(
        id=evidence.id,
        what=words.evidence_in_words(kind=evidence.kind, content=evidence.content),
        attempt_number=numbers.get(evidence.attempt_id),
        received_at=evidence.received_at,
        content=Excerpt(
            name=f"evidence-{evidence.id.hex}", text=evidence.content, url=url
        ),
        is_proposal=evidence.kind == EVIDENCE_KIND
        and found_in(evidence.content).proposed_outcome is not None,
    )


def _late_reports(dossier: Dossier) -> list[LateReport]:
    numbers = {it.id: it.number for it in dossier.attempts}
    return [
        late_report(it, task=dossier.task, numbers=numbers)
        for it in dossier.evidence.items
    ]


def _happenings(
    dossier: Dossier, audit: Iterable[Told], *, now: datetime
) -> Iterator[Happening]:
    yield from happenings_of_attempts(dossier.attempts, now=now)
    yield from happenings_of_evidence(dossier.evidence.items)
    for it in audit:
        yield Happening(
            at=it.operation.created_at,
            lane=gettext("Operations"),
            kind="operation",
            what=it.what,
            detail=it.who,
        )
    for event in dossier.events.items:
        kind = msgspec.json.decode(event.payload, type=_EventHead).kind
        yield Happening(
            at=event.created_at,
            lane=gettext("Events"),
            kind="event",
            what=words.EVENTS.get(kind, kind),
        )


def _audit(operations: Sequence[OperationAudit]) -> list[Told]:
    users = user_names(_actors(operations, ActorKind.USER))
    tokens = token_names(_actors(operations, ActorKind.TOKEN))
    names = {**tokens, **users, ENGINE_ID: gettext("Orbit itself")}
    return [
        Told(
            operation=it,
            what=words.OPERATIONS.get(it.action, it.action),
            # Where two people settled it: who proposed, then who approved.
            who=", ".join(
                names.get(person, person.hex)
                for person in (it.actor_id, it.approver_id)
                if person is not None
            ),
        )
        for it in operations
    ]


def _actors(operations: Iterable[OperationAudit], kind: ActorKind) -> set[UUID]:
    return {
        person
        for it in operations
        for person, its_kind in (
            (it.actor_id, it.actor_kind),
            (it.approver_id, it.approver_kind),
        )
        if person is not None and its_kind == kind
    }


def _kin(generation: Generation) -> Kin:
    return Kin(
        task=generation,
        state=words.STATES[generation.state],
        is_here=generation.step == 0,
        changes=[
            (words.FIELDS.get(it.field, it.field), it.before, it.after)
            for it in generation.changes
        ],
    )
