"""What executions came to in the last hours, counted over the real rows."""

from collections import Counter
from datetime import timedelta
from typing import Annotated
from uuid import UUID

import msgspec

from openapi_app.domain.handlers import Context, job_handler
from openapi_app.domain.words import public_state
from openapi_app.models import JobExecution
from orbit import clock
from tasks_app.public import standings_of

CHUNK = 1_000


class Summary(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """How far back to look."""

    hours: Annotated[int, msgspec.Meta(ge=1, le=24 * 31)] = 24


@job_handler("orbit.daily_summary", parameters=Summary, recovery_safety="REPLAY_SAFE")
def summarise(context: Context, asked: Summary) -> object:
    """Executions by state and by source, and the span that they were accepted in."""
    until = clock.now()
    since = until - timedelta(hours=asked.hours)
    executions = JobExecution.objects.filter(
        accepted_at__gte=since, accepted_at__lt=until
    ).exclude(id=context.execution_id)
    states: Counter[str] = Counter()
    sources: Counter[str] = Counter()
    chunk: list[UUID | None] = []
    for source, task_id in executions.values_list("source", "task_id").iterator():
        sources[source] += 1
        chunk.append(task_id)
        if len(chunk) == CHUNK:
            context.check()
            states += _states(chunk)
            chunk = []
    states += _states(chunk)
    return {
        "since": since,
        "until": until,
        "executions": sources.total(),
        "by_source": dict(sorted(sources.items())),
        "by_state": dict(sorted(states.items())),
    }


def _states(task_ids: list[UUID | None]) -> Counter[str]:
    standings = standings_of([it for it in task_ids if it is not None])
    return Counter(
        public_state(None if it is None else standings[it].state) for it in task_ids
    )
