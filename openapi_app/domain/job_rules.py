"""What a job may be: its fields and their limits."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from openapi_app.domain.errors import InvalidJob
from openapi_app.domain.handlers import find_handler
from openapi_app.domain.schedule import Schedule, check_schedule
from openapi_app.domain.words import ConcurrencyPolicy, MisfirePolicy, ScheduleType
from orbit import exact_json
from orbit.errors import Invalid

MAX_PARAMETERS_BYTES = 256 * 1024
MAX_TIMEOUT_MS = 2_592_000_000
MAX_ATTEMPTS = 100
RECOVERY_SAFETIES = ("RECONCILE_ONLY", "REPLAY_SAFE")
_LENGTHS = {"name": 200, "description": 10_000, "handler": 200}
_CONTROLS = frozenset(map(chr, (*range(32), 127)))


@dataclass(frozen=True, slots=True, kw_only=True)
class JobDraft:
    """A job as a person wants it; `parameters` is exact JSON text, times in ms."""

    namespace_id: UUID
    group_id: UUID
    name: str
    handler: str
    queue_id: UUID
    description: str = ""
    parameters: str = "{}"
    schedule_type: str = "NONE"
    cron: str = ""
    interval_seconds: int | None = None
    once_at: datetime | None = None
    timezone: str = "UTC"
    is_enabled: bool = True
    concurrency_policy: str = "PARALLEL"
    misfire_policy: str = "FIRE_ONCE"
    recovery_safety: str = "RECONCILE_ONLY"
    max_attempts: int = 1
    initial_delay_ms: int = 0
    max_delay_ms: int = 0
    attempt_timeout_ms: int = 60_000
    task_timeout_ms: int = 3_600_000

    def schedule(self, *, since: datetime) -> Schedule:
        """When it shall fire, counted from `since`."""
        return Schedule(
            type=ScheduleType(self.schedule_type),
            since=since,
            cron=self.cron,
            interval_seconds=self.interval_seconds,
            once_at=self.once_at,
            timezone=self.timezone,
        )


def check_draft(draft: JobDraft) -> None:
    """Raise InvalidJob, with the field, for the first rule that is broken.

    The schedule has its own check, which needs the time; see `check_timing`.
    """
    for field, limit in _LENGTHS.items():
        _check_text(getattr(draft, field), field=field, limit=limit)
    for field in ("name", "handler"):
        _check_line(getattr(draft, field), field=field)
    _check_word(draft.concurrency_policy, ConcurrencyPolicy, "concurrency_policy")
    _check_word(draft.misfire_policy, MisfirePolicy, "misfire_policy")
    if draft.recovery_safety not in RECOVERY_SAFETIES:
        raise InvalidJob(
            "recovery_safety", f"Choose one of {', '.join(RECOVERY_SAFETIES)}."
        )
    check_recovery(draft)
    check_parameters(draft.parameters, handler=draft.handler)
    _check_budget(draft)


def check_group_name(name: str) -> None:
    """Raise InvalidJob unless a group may be called so."""
    _check_text(name, field="name", limit=_LENGTHS["name"])
    _check_line(name, field="name")


def check_timing(draft: JobDraft, *, now: datetime) -> None:
    """Raise InvalidJob, with the field, unless the schedule will fire."""
    _check_word(draft.schedule_type, ScheduleType, "schedule_type")
    check_schedule(draft.schedule(since=now), now=now)


def check_recovery(draft: JobDraft) -> None:
    """REPLAY_SAFE is the handler's promise; a job cannot make it in its place."""
    handler = find_handler(draft.handler)
    if draft.recovery_safety != "REPLAY_SAFE" or handler is None:
        return
    if handler.recovery_safety != "REPLAY_SAFE":
        raise InvalidJob(
            "recovery_safety",
            f"The handler {draft.handler} does not promise that running it again is"
            " safe; choose RECONCILE_ONLY.",
        )


def check_parameters(parameters: str, *, handler: str) -> None:
    """Raise InvalidJob unless it is an exact JSON object in the handler's shape.

    A handler that is not registered here has no shape to hold them to.
    """
    raw = parameters.encode("utf-8", "surrogatepass")
    if len(raw) > MAX_PARAMETERS_BYTES:
        raise InvalidJob(
            "parameters", f"It has {len(raw)} bytes; at most {MAX_PARAMETERS_BYTES}."
        )
    known = find_handler(handler)
    try:
        exact_json.check(raw)
        if known is not None:
            known.read(parameters)
    except Invalid as refusal:
        where = f"{refusal.field}: " if refusal.field else ""
        raise InvalidJob("parameters", f"{where}{refusal.message}") from None
    if not raw.lstrip().startswith(b"{"):
        raise InvalidJob("parameters", "Write a JSON object, {} for none.")


def _check_text(text: str, *, field: str, limit: int) -> None:
    if len(text) > limit or "\0" in text:
        raise InvalidJob(field, f"Use at most {limit} characters, none of them NUL.")


def _check_line(text: str, *, field: str) -> None:
    if not text.strip() or text != text.strip() or _CONTROLS.intersection(text):
        raise InvalidJob(field, "Write one line of text, without spaces at its ends.")


def _check_word(word: str, words: Callable[[str], StrEnum], field: str) -> None:
    try:
        words(word)
    except ValueError:
        raise InvalidJob(field, f"There is no {word!r}.") from None


def _check_budget(draft: JobDraft) -> None:
    _check_number(draft.max_attempts, "max_attempts", 1, MAX_ATTEMPTS)
    _check_number(draft.initial_delay_ms, "initial_delay_ms", 0, MAX_TIMEOUT_MS)
    _check_number(draft.max_delay_ms, "max_delay_ms", 0, MAX_TIMEOUT_MS)
    _check_number(draft.attempt_timeout_ms, "attempt_timeout_ms", 1, MAX_TIMEOUT_MS)
    _check_number(
        draft.task_timeout_ms,
        "task_timeout_ms",
        draft.attempt_timeout_ms,
        MAX_TIMEOUT_MS,
    )


def _check_number(value: int, field: str, low: int, high: int) -> None:
    if not low <= value <= high:
        raise InvalidJob(field, f"Choose a number from {low} to {high}.")
