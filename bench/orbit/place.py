"""Where the benchmarks' tasks live."""

import json
import os
from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Place:
    """Ids of the prepared namespace, its queues, and one token that may do all."""

    namespace_id: str
    application_id: str
    queue_ids: list[str]
    actor_id: str
    token: str

    def dump(self) -> str:
        """As JSON text, for the environment of a child."""
        return json.dumps(asdict(self))


def place_of_environment() -> Place:
    """The place that BENCH_PLACE tells of."""
    return Place(**json.loads(os.environ["BENCH_PLACE"]))
