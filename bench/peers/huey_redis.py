"""Huey on Redis."""

import importlib
import os
import sys

from huey import RedisHuey

from bench.ticks import tick

huey = RedisHuey("bench", url=os.environ["BENCH_REDIS_URL"], results=False)


@huey.task()
def noop() -> None:
    """Do nothing."""
    tick()


if __name__ == "__main__":
    # Under the name by which the consumer imports it, not as part of __main__.
    module = importlib.import_module("bench.peers.huey_redis")
    for _ in range(int(sys.argv[2])):
        module.noop()
