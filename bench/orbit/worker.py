"""Orbit in process: `fill`, `uncertain` or `failed` COUNT, and `work` BATCH."""

import sys

import django

django.setup()

from bench.orbit.engine import Engine  # noqa: E402 (needs the apps)
from bench.orbit.place import place_of_environment  # noqa: E402
from bench.ticks import tick  # noqa: E402

SUBMIT_BATCH = 500
CLAIM_BATCH = 100


def fill(engine: Engine, count: int) -> None:
    """Submit so many."""
    for start in range(0, count, SUBMIT_BATCH):
        engine.submit(min(SUBMIT_BATCH, count - start))


def settle(engine: Engine, count: int, *, kind: str) -> None:
    """Bring so many new tasks to NEEDS_REVIEW or FAILED; print their ids."""
    left = count
    fill(engine, count)
    while left > 0:
        assignments = engine.claim(min(CLAIM_BATCH, left))
        engine.report(assignments, kind=kind)
        left -= len(assignments)
        for assignment in assignments:
            sys.stdout.write(assignment.task.id.hex + "\n")


def work(engine: Engine, batch: int) -> None:
    """Claim, do nothing, report; until stopped."""
    while True:
        assignments = engine.claim(batch)
        if assignments:
            engine.report(assignments)
            tick(times=len(assignments))


def main(verb: str, number: int) -> None:
    """Do what the command line says."""
    engine = Engine(place_of_environment())
    if verb == "fill":
        fill(engine, number)
    elif verb == "work":
        work(engine, number)
    else:
        settle(engine, number, kind={"uncertain": "unknown", "failed": "fail"}[verb])


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
