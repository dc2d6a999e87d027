"""Drain in process: how fast two workers empty a queue of no-op tasks."""

from bench.contest import Case, Contestant, Target
from bench.floor import Floor
from bench.orbit.drain import OrbitDrain, SDKDrain
from bench.peers import drains

BATCH = 50


def _batches() -> list[Contestant]:
    return [
        Floor(name="plain SQL", act="drain", rows=BATCH, clients=2),
        OrbitDrain(name="Orbit", batch=BATCH, expected=15_000),
        *drains.in_batches(),
    ]


def _singles() -> list[Contestant]:
    return [
        Floor(name="plain SQL", act="drain", rows=1, clients=2),
        OrbitDrain(name="Orbit", batch=1, expected=2_000),
        *drains.one_by_one(),
    ]


def _over_http() -> list[Contestant]:
    return [
        SDKDrain(name="Orbit, SDK over HTTP", batch=BATCH, expected=4_000),
        *(peer for peer in drains.in_batches() if "Celery" in peer.name),
    ]


CASES = (
    Case(
        name="drain",
        title=f"Drain in process, batches of {BATCH}, two worker processes",
        unit="tasks/s",
        contestants=_batches,
        targets=(
            Target("Orbit", "plain SQL", 0.5),
            Target("Orbit", "PgQueuer, batch 10", 1.0),
            Target("Orbit", "Huey (Redis)", 1.0),
            Target("Orbit", "Dramatiq (Redis)", 1.0),
            Target("Orbit", "Celery (Redis, prefork)", 1.0),
            Target("Orbit", "Celery (Redis, solo)", 1.0),
        ),
    ),
    Case(
        name="drain-one",
        title="Drain in process, one by one, two worker processes",
        unit="tasks/s",
        contestants=_singles,
        targets=(
            Target("Orbit", "plain SQL", 0.5),
            Target("Orbit", "Procrastinate", 1.0),
            Target("Orbit", "django-tasks (database)", 1.0),
            Target("Orbit", "django-q2 (Redis)", 1.0),
        ),
    ),
    Case(
        name="drain-http",
        title=f"Drain over HTTP through the SDK worker, batches of {BATCH}",
        unit="tasks/s",
        contestants=_over_http,
        targets=(
            Target("Orbit, SDK over HTTP", "Celery (Redis, prefork)", 1.0),
            Target("Orbit, SDK over HTTP", "Celery (Redis, solo)", 1.0),
        ),
    ),
)
