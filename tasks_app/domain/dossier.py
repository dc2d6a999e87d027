"""What a decision about a task rests on, and the digest by which it is known."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from orbit.exact_json import canonical, digest, encode

# How far back an older dossier is looked for, one piece of evidence at a time.
MAX_STEPS_BACK = 100
EXCERPT_CHARACTERS = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptGround:
    """What counts of an attempt: its id, its fence and how it stands or ended."""

    id: UUID
    lease_seq: int
    outcome: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Grounds:
    """What a decision rests on: nothing here changes by reading or by time passing.

    Attempts are in order, evidence and contradictions in the order of their arrival.
    `does_owner_agree` is the owner's own word on a review.
    """

    task_id: UUID
    revision: int
    state: str
    owner_kind: str
    owner_id: UUID | None
    does_owner_agree: bool
    attempts: tuple[AttemptGround, ...]
    evidence: tuple[UUID, ...]
    contradictions: tuple[UUID, ...]

    @property
    def digest(self) -> str:
        """SHA-256 of the canonical JSON of these grounds, 64 lower-case hex."""
        said = {
            "task_id": self.task_id,
            "revision": str(self.revision),
            "state": self.state,
            "owner": {
                "kind": self.owner_kind,
                "id": self.owner_id,
                "agrees": self.does_owner_agree,
            },
            "attempts": [
                {"id": it.id, "lease_seq": str(it.lease_seq), "outcome": it.outcome}
                for it in self.attempts
            ],
            "evidence": self.evidence,
            "contradictions": self.contradictions,
        }
        return hashlib.sha256(canonical(encode(said))).hexdigest()

    def evidence_since(self, digest: str) -> Sequence[UUID] | None:
        """The evidence that came after the dossier with this digest, or None.

        None when it is not this dossier without its latest evidence: then it is of
        another revision, too old, or never was one.
        """
        count = len(self.evidence)
        for kept in range(count - 1, max(-1, count - 1 - MAX_STEPS_BACK), -1):
            if replace(self, evidence=self.evidence[:kept]).digest == digest:
                return self.evidence[kept:]
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Excerpt:
    """A JSON text by the digest of its canonical form and its size.

    `text` is its beginning as written.
    """

    digest: str
    size_bytes: int
    text: str
    is_whole: bool


def excerpt_of(text: str) -> Excerpt:
    """The first EXCERPT_CHARACTERS of a JSON text, and what it is known by."""
    return Excerpt(
        digest=digest(text),
        size_bytes=len(text.encode()),
        text=text[:EXCERPT_CHARACTERS],
        is_whole=len(text) <= EXCERPT_CHARACTERS,
    )
