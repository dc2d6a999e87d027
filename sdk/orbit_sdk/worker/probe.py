"""A probe looks whether an effect happened; it changes nothing."""

from collections.abc import Callable
from typing import Literal

import msgspec

from orbit_sdk.worker.context import Context

SUFFIX = ".probe"  # behind the name of the handler whose effect is looked for


class SuspectAttempt(msgspec.Struct, frozen=True, kw_only=True):
    """An attempt of the task that is looked at, and how it ended."""

    id: str
    outcome: str


class Suspect(msgspec.Struct, frozen=True, kw_only=True):
    """A task of which nobody knows whether it took effect, as it was submitted."""

    task_id: str
    handler: str
    handler_version: str
    attempts: tuple[SuspectAttempt, ...]
    payload: msgspec.Raw


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """What was found: a proposal for the person who decides.

    `evidence_ref` says where it can be seen, up to 512 characters; `details` is any
    JSON, as little as helps.
    """

    effect: Literal["APPLIED", "NOT_APPLIED", "UNKNOWN"]
    evidence_ref: str | None = None
    details: object = None


Probe = Callable[[Suspect], Finding]


def as_handler(probe: Probe) -> Callable[[Context], object]:
    """The handler of the probe's own task."""

    def look(context: Context) -> object:
        found = probe(msgspec.json.decode(bytes(context.payload), type=Suspect))
        return {
            "effect": found.effect,
            "evidence_ref": found.evidence_ref,
            "details": found.details,
        }

    return look
