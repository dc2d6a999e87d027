"""One call of an API by a token, as the call log keeps it."""

import functools
import re
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

CALLS_KEPT = 100
DAYS_KEPT = 90


_PARAMETER = re.compile(r"<(?:[a-z]+:)?([a-z_]+)>")


@functools.lru_cache(maxsize=256)
def route_of(method: str, pattern: str) -> str:
    """A Django path pattern as people read it: `GET /v1/tasks/{task_id}`."""
    readable = _PARAMETER.sub(r"{\1}", pattern)
    return f"{method} /{readable}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """What is kept of a call: no body, no header, no query, no address.

    `route` is the pattern of the path with its method, `result` the machine code of
    the answer ("ok" for a success).
    """

    token_id: UUID
    route: str
    status: int
    result: str
    latency_ms: float
    request_id: str
    created_at: datetime
    job_id: UUID | None = None
    is_replay: bool = False
