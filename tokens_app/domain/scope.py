"""What a token may be for, and the scopes that each audience knows."""

from collections.abc import Iterable, Mapping
from enum import StrEnum

from tokens_app.domain.errors import TokenInvalid


class Audience(StrEnum):
    """The one API that a token is good for; every other API refuses it."""

    TASKS = "TASKS"
    OPEN_JOBS = "OPEN_JOBS"


AUDIENCES: tuple[str, ...] = tuple(Audience)

SCOPES: Mapping[str, tuple[str, ...]] = {
    Audience.TASKS: (
        "tasks:submit",
        "tasks:read",
        "tasks:cancel",
        "tasks:work",
        "tasks:review",
        "tasks:retry",
        "tasks:audit:read",
        "tasks:own",
        "events:read",
    ),
    Audience.OPEN_JOBS: ("jobs:read", "jobs:trigger", "executions:read"),
}


def require_audience(audience: str) -> Audience:
    """The audience named so, or TokenInvalid."""
    if audience not in AUDIENCES:
        raise TokenInvalid(
            f"There is no such audience; choose one of {', '.join(AUDIENCES)}.",
            field="audience",
        )
    return Audience(audience)


def write_scopes(scopes: Iterable[str], *, audience: str) -> str:
    """The scopes as stored: space-separated, each once, in the published order."""
    wanted = set(scopes)
    known = SCOPES[audience]
    unknown = sorted(wanted.difference(known))
    if unknown:
        raise TokenInvalid(
            f"{audience} tokens have no scope {unknown[0]!r};"
            f" choose from {', '.join(known)}.",
            field="scopes",
        )
    if not wanted:
        raise TokenInvalid(
            f"Choose at least one scope: {', '.join(known)}.", field="scopes"
        )
    return " ".join(scope for scope in known if scope in wanted)


def read_scopes(stored: str) -> frozenset[str]:
    """The set that a stored scope string names."""
    return frozenset(stored.split())
