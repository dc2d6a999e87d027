"""Dramatiq on Redis."""

import os
import sys

import dramatiq
from dramatiq.brokers.redis import RedisBroker

from bench.ticks import tick

broker = RedisBroker(url=os.environ["BENCH_REDIS_URL"])
dramatiq.set_broker(broker)


@dramatiq.actor
def noop() -> None:
    """Do nothing."""
    tick()


if __name__ == "__main__":
    for _ in range(int(sys.argv[2])):
        noop.send()
