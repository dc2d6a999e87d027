"""Let the next executions of serial jobs go on, as a step of the engine's settling."""

from collections.abc import Collection
from uuid import UUID

from openapi_app.models.turns import settle


def advance_jobs(*, settled: Collection[UUID]) -> list[UUID]:
    """The executions whose turn has come now that those in `settled` are final.

    Their jobs are kept and their turns taken already (`keep_jobs_of`). Exactly once
    for each: a gate that is open opens no more. Send them after the commit.
    """
    return settle(settled)
