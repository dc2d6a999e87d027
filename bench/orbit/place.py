"""Where the benchmarks' tasks live."""

import json
import os
from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Place:
    """Ids of the prepared namespace, its queues and its job, and the tokens.

    `token` may do all on the queues, `job_tokens` may start the job of the no-op
    handler, each 100 000 times a minute.
    """

    namespace_id: str
    application_id: str
    queue_ids: list[str]
    actor_id: str
    token: str
    job_id: str
    job_token_ids: list[str]
    job_tokens: list[str]

    def dump(self) -> str:
        """As JSON text, for the environment of a child."""
        return json.dumps(asdict(self))


def place_of_environment() -> Place:
    """The place that BENCH_PLACE tells of."""
    return Place(**json.loads(os.environ["BENCH_PLACE"]))
