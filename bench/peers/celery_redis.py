"""Celery on Redis."""

import os
import sys

from celery import Celery

from bench.ticks import tick

app = Celery("bench", broker=os.environ["BENCH_REDIS_URL"])
app.conf.update(
    task_ignore_result=True,
    task_acks_late=os.environ.get("BENCH_ACKS_LATE") == "1",
    worker_prefetch_multiplier=64,
    task_default_delivery_mode="persistent",
    broker_connection_retry_on_startup=True,
    worker_hijack_root_logger=False,
)


@app.task(name="noop")
def noop() -> None:
    """Do nothing."""
    tick()


def fill(count: int) -> None:
    """Enqueue so many, over one connection."""
    with app.producer_pool.acquire() as producer:
        for _ in range(count):
            noop.apply_async(producer=producer)


if __name__ == "__main__":
    fill(int(sys.argv[2]))
