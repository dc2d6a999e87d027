"""The handlers of jobs: plain functions, known by the name they are registered under.

    @job_handler("billing.close_day", version="v1", parameters=CloseDay)
    def close_day(context: Context, parameters: CloseDay) -> object: ...

A module or package `handlers` of any installed app is imported at the start.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar
from uuid import UUID

import msgspec

from orbit.exact_json import decode

PROBE_SUFFIX = ".probe"  # the engine's own word

RecoverySafety = Literal["RECONCILE_ONLY", "REPLAY_SAFE"]


class RetryableError(Exception):
    """Raised by a handler: it failed, nothing was done, another attempt may be made."""


class OutcomeUnknown(Exception):
    """Raised by a handler: it does not know what it did; people must look."""


class Cancelled(Exception):
    """Raised by a handler that did nothing because a cancel was requested."""


class Stopped(Exception):
    """Raised by `Context.check`: the attempt must stop where it is."""


class DuplicateHandler(Exception):
    """Two functions claim one name; a fault of the program."""


class NoParameters(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The parameters of a handler that takes none: `{}`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """One attempt at one execution, as its handler sees it.

    `raw_parameters` is the exact JSON text. `stopped` is set when the attempt must
    end: its lease is over or the worker is going down.
    """

    execution_id: UUID
    attempt_number: int
    raw_parameters: str
    stopped: threading.Event = field(default_factory=threading.Event)
    cancel_requested: threading.Event = field(default_factory=threading.Event)

    def check(self) -> None:
        """Raise Stopped if the attempt must end; call it before each effect."""
        if self.stopped.is_set():
            raise Stopped("The lease of this attempt is over.")


Run = Callable[[Context, Any], object]
R = TypeVar("R", bound=Run)


@dataclass(frozen=True, slots=True, kw_only=True)
class Handler:
    """One registered function, the shape of its parameters, and how it recovers."""

    name: str
    version: str
    parameters: type[msgspec.Struct]
    recovery_safety: RecoverySafety
    run: Run

    def read(self, parameters: str) -> msgspec.Struct:
        """The parameters of a job in their shape.

        Raises Invalid, whose `field` is the dotted path of the offending member.
        """
        return decode(parameters.encode(), self.parameters)


class SuspectAttempt(msgspec.Struct, frozen=True):
    """An attempt of a task that is looked at, and how it ended."""

    id: str
    outcome: str


class Suspect(msgspec.Struct, frozen=True, kw_only=True):
    """An execution of which nobody knows whether it took effect.

    `owner_id` is the execution's id, `payload` its exact parameters.
    """

    task_id: str
    owner_id: str
    handler: str
    handler_version: str
    attempts: tuple[SuspectAttempt, ...]
    payload: msgspec.Raw


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """What a probe found: a proposal for the person who decides."""

    effect: Literal["APPLIED", "NOT_APPLIED", "UNKNOWN"]
    evidence_ref: str | None = None
    details: object = None


Look = Callable[[Suspect, Any], Finding]
L = TypeVar("L", bound=Look)

_handlers: dict[str, Handler] = {}
_probes: dict[str, Handler] = {}


def job_handler(
    name: str,
    *,
    version: str = "v1",
    parameters: type[msgspec.Struct] = NoParameters,
    recovery_safety: RecoverySafety = "RECONCILE_ONLY",
) -> Callable[[R], R]:
    """Register the decorated function; it is called as `function(context, parameters)`.

    What it returns becomes the result and must be JSON or None. REPLAY_SAFE promises
    that running it again after an unknown outcome does no harm.
    """

    def register(run: R) -> R:
        known = _handlers.get(name)
        if known is not None and known.run.__qualname__ != run.__qualname__:
            raise DuplicateHandler(name)
        _handlers[name] = Handler(
            name=name,
            version=version,
            parameters=parameters,
            recovery_safety=recovery_safety,
            run=run,
        )
        return run

    return register


def job_probe(name: str) -> Callable[[L], L]:
    """Register the decorated function to look whether a handler's effect happened.

    It is called as `function(suspect, parameters)`, for executions of the handler
    `name`, registered before, that await a review. It only reads.
    """
    handler = _handlers[name]

    def register(look: L) -> L:
        def run(_context: Context, suspect: Suspect) -> Finding:
            return look(suspect, handler.read(bytes(suspect.payload).decode()))

        _probes[name + PROBE_SUFFIX] = Handler(
            name=name + PROBE_SUFFIX,
            version=handler.version,
            parameters=Suspect,
            recovery_safety="REPLAY_SAFE",
            run=run,
        )
        return look

    return register


def has_probe(name: str) -> bool:
    """Whether a probe of that handler is registered in this process."""
    return name + PROBE_SUFFIX in _probes


def find_runnable(name: str) -> Handler | None:
    """The handler or probe that a task of that handler name is for, or None."""
    return _handlers.get(name) or _probes.get(name)


def find_handler(name: str) -> Handler | None:
    """The handler of that name in this process, or None."""
    return _handlers.get(name)


def registered_handlers() -> list[Handler]:
    """All handlers of this process, by name."""
    return [_handlers[name] for name in sorted(_handlers)]
