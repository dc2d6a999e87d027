"""PgQueuer on PostgreSQL, through asyncpg."""

import asyncio
import os
import sys

import asyncpg
from pgqueuer import PgQueuer
from pgqueuer.db import AsyncpgDriver
from pgqueuer.models import Job
from pgqueuer.queries import Queries

from bench.ticks import tick


async def factory() -> PgQueuer:
    """One worker's application."""
    connection = await asyncpg.connect(os.environ["BENCH_DATABASE_URL"])
    application = PgQueuer(AsyncpgDriver(connection))

    @application.entrypoint("noop")
    async def noop(_job: Job) -> None:
        tick()

    return application


async def fill(count: int) -> None:
    """Make the schema and enqueue so many, 1 000 at a time."""
    connection = await asyncpg.connect(os.environ["BENCH_DATABASE_URL"])
    queries = Queries(AsyncpgDriver(connection))
    await queries.install()
    for start in range(0, count, 1000):
        size = min(1000, count - start)
        await queries.enqueue(["noop"] * size, [None] * size, [0] * size)


async def work(batch_size: int) -> None:
    """Run a worker until it is stopped."""
    application = await factory()
    await application.run(batch_size=batch_size)


if __name__ == "__main__":
    step = {"fill": fill, "work": work}[sys.argv[1]]
    asyncio.run(step(int(sys.argv[2])))
