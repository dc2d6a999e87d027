"""Procrastinate on PostgreSQL."""

import asyncio
import os
import sys
import time

from procrastinate import App, PsycopgConnector

from bench.ticks import tick

app = App(connector=PsycopgConnector(conninfo=os.environ["BENCH_DATABASE_URL"]))


@app.task(name="noop", queue="bench")
async def noop() -> None:
    """Do nothing."""
    tick()


async def fill(count: int) -> None:
    """Make the schema and defer so many, 1 000 at a time."""
    async with app.open_async():
        await app.schema_manager.apply_schema_async()
        for start in range(0, count, 1000):
            size = min(1000, count - start)
            await noop.batch_defer_async(*[{} for _ in range(size)])


async def produce(size: int, seconds: float) -> float:
    """Jobs per second deferred `size` at a time."""
    async with app.open_async():
        await noop.batch_defer_async(*[{} for _ in range(size)])
        deferred = 0
        started = time.monotonic()
        while time.monotonic() < started + seconds:
            await noop.batch_defer_async(*[{} for _ in range(size)])
            deferred += size
        return deferred / (time.monotonic() - started)


if __name__ == "__main__":
    if sys.argv[1] == "fill":
        asyncio.run(fill(int(sys.argv[2])))
    else:
        rate = asyncio.run(produce(int(sys.argv[2]), float(sys.argv[3])))
        sys.stdout.write(str(rate))
