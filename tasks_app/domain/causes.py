"""Why a task needs review, told by the code that it carries."""

from collections.abc import Mapping
from enum import StrEnum


class Cause(StrEnum):
    """What left a task without a known outcome.

    WORKER_UNSURE carries the worker's own code; CANCELLED is a cancel of a task whose
    last attempt had ended unknown.
    """

    LEASE_LOST = "LEASE_LOST"
    TIMED_OUT = "TIMED_OUT"
    DEADLINE = "DEADLINE"
    WORKER_UNSURE = "WORKER_UNSURE"
    CANCELLED = "CANCELLED"


# The engine's own codes; "" stands for none, and any other code is a worker's.
CAUSES: Mapping[str, Cause] = {
    "": Cause.CANCELLED,
    "LEASE_LOST": Cause.LEASE_LOST,
    "ATTEMPT_TIMEOUT": Cause.TIMED_OUT,
    "DEADLINE_EXCEEDED": Cause.DEADLINE,
    "START_DEADLINE_EXCEEDED": Cause.DEADLINE,
}


def cause_of(error_code: str | None) -> Cause:
    """Why a task with this code needs review."""
    return CAUSES.get(error_code or "", Cause.WORKER_UNSURE)
