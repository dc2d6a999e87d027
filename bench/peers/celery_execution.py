"""Bare Celery as Orbit uses it: acks_late, one message at a time, results ignored.

`fill COUNT`, or `pace RATE SECONDS`.
"""

import os
import sys
import time

from celery import Celery

from bench.pace import pace
from bench.ticks import tick_waited

app = Celery("bench", broker=os.environ["BENCH_REDIS_URL"])
app.conf.update(
    task_ignore_result=True,
    task_acks_late=True,
    task_reject_on_worker_lost=True,
    worker_prefetch_multiplier=1,
    worker_enable_remote_control=False,
    broker_connection_retry_on_startup=True,
    worker_hijack_root_logger=False,
)


@app.task(name="noop")
def noop(sent_at: float) -> None:
    """Do nothing."""
    tick_waited(since=sent_at)


def main(verb: str, *numbers: str) -> None:
    """Enqueue over one connection."""
    with app.producer_pool.acquire() as producer:

        def send() -> None:
            noop.apply_async((time.time(),), producer=producer)

        if verb == "fill":
            for _ in range(int(numbers[0])):
                send()
            return
        rate, seconds = map(float, numbers)
        pace(send, rate=rate, seconds=seconds)


if __name__ == "__main__":
    main(*sys.argv[1:])
