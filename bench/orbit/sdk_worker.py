"""Orbit's worker over HTTP, through the SDK: `work BATCH`."""

import os
import sys

from bench.orbit.place import place_of_environment
from bench.ticks import tick
from orbit_sdk import Client
from orbit_sdk.worker import Context, Worker, WorkerOptions


def main(batch: int) -> None:
    """Work until stopped."""
    place = place_of_environment()
    with Client(os.environ["BENCH_URL"], place.token, timeout_seconds=10) as client:
        worker = Worker(
            client=client,
            queue_id=place.queue_ids[0],
            options=WorkerOptions(batch=batch),
        )

        @worker.handler("noop", "1")
        def noop(_context: Context) -> object:
            tick()
            return {"ok": True}

        worker.run()


if __name__ == "__main__":
    main(int(sys.argv[2]))
