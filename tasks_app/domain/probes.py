"""Probes: a look whether an effect happened, by a handler that declares one.

A probe is an ordinary task of the handler's name with SUFFIX behind it. What it finds
is a proposal: it becomes evidence of the task that it looked at, and settles nothing.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

import msgspec

from orbit.errors import Invalid
from orbit.exact_json import decode, encode
from tasks_app.domain.declarations import check_evidence_ref
from tasks_app.domain.dossier import AttemptGround
from tasks_app.domain.errors import InvalidField
from tasks_app.domain.lifecycle import State
from tasks_app.domain.retry_policy import RetryPolicy

SUFFIX = ".probe"
MAX_HANDLER = 200
EVIDENCE_KIND = "probe"
TIMEOUT_MS = 600_000
MAX_EVIDENCE_REF = 512

RETRY_POLICY = RetryPolicy(
    max_attempts=3,
    initial_delay_ms=1_000,
    max_delay_ms=10_000,
    attempt_timeout_ms=60_000,
)


class Effect(StrEnum):
    """What a probe found out about the effect."""

    APPLIED = "APPLIED"
    NOT_APPLIED = "NOT_APPLIED"
    UNKNOWN = "UNKNOWN"


PROPOSED = {Effect.APPLIED: State.SUCCEEDED, Effect.NOT_APPLIED: State.FAILED}


class ProbeResult(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """What a probe reports as its result; `details` is any JSON."""

    effect: Effect
    evidence_ref: str | None = None
    details: msgspec.Raw = msgspec.Raw(b"null")


def probe_handler(handler: str) -> str | None:
    """The handler of probes for tasks of `handler`; None where the name has no room."""
    name = handler + SUFFIX
    return name if len(name) <= MAX_HANDLER else None


def probe_payload(
    *,
    task_id: UUID,
    owner_id: UUID | None,
    handler: str,
    handler_version: str,
    payload: str,
    attempts: Sequence[AttemptGround],
) -> str:
    """What a probe is given: the task with its payload exactly as it was submitted."""
    return encode(
        {
            "task_id": task_id,
            "owner_id": owner_id,
            "handler": handler,
            "handler_version": handler_version,
            "attempts": [{"id": it.id, "outcome": it.outcome} for it in attempts],
            "payload": msgspec.Raw(payload.encode()),
        }
    ).decode()


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """The evidence that a probe's result becomes; `content` is exact JSON text."""

    content: str
    proposed: State | None
    kind: str = EVIDENCE_KIND

    @property
    def digest(self) -> str:
        """SHA-256 of the content: the same finding of an attempt is kept once."""
        return hashlib.sha256(self.content.encode()).hexdigest()


def finding_of(result: str, *, probe_task_id: UUID) -> Finding:
    """What a probe's result says.

    A result in no known form is a finding too: UNKNOWN, with the result as details.
    """
    try:
        found = _read(result)
        fault = None
    except Invalid as mistake:
        found = ProbeResult(effect=Effect.UNKNOWN, details=msgspec.Raw(result.encode()))
        fault = f"{mistake.field}: {mistake.message}" if mistake.field else str(mistake)
    proposed = PROPOSED.get(found.effect)
    content = encode(
        {
            "probe_task_id": probe_task_id,
            "effect": found.effect,
            "proposed_outcome": proposed,
            "evidence_ref": found.evidence_ref,
            "fault": fault,
            "details": found.details,
        }
    )
    return Finding(content=content.decode(), proposed=proposed)


class KeptFinding(msgspec.Struct, frozen=True):
    """A finding as its evidence says it; `details` is exact JSON text."""

    probe_task_id: str
    effect: Effect
    proposed_outcome: str | None
    evidence_ref: str | None
    details: msgspec.Raw

    @property
    def reference(self) -> str:
        """Where its proof lies: what the probe named, or else the probe itself.

        A probe may name anything; what a review would refuse is no reference.
        """
        itself = f"probe:{self.probe_task_id}"
        if not self.evidence_ref:
            return itself
        try:
            check_evidence_ref(self.evidence_ref)
        except InvalidField:
            return itself
        return self.evidence_ref


def found_in(content: str) -> KeptFinding:
    """The finding in the content of a piece of evidence of kind EVIDENCE_KIND."""
    return decode(content.encode(), KeptFinding)


def _read(result: str) -> ProbeResult:
    found = decode(result.encode(), ProbeResult)
    if found.evidence_ref is not None and len(found.evidence_ref) > MAX_EVIDENCE_REF:
        raise Invalid(
            f"It is longer than {MAX_EVIDENCE_REF} characters.", field="evidence_ref"
        )
    return found
