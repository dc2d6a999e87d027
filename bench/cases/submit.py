"""Submit over HTTP: one by one, in bulk, and by many clients on one queue."""

from bench.contest import Case, Contestant, Target
from bench.floor import Floor
from bench.minimal_answer import MinimalAnswer
from bench.orbit.http import HttpAct
from bench.peers.bulk import ProcrastinateBulk

BARE = "bench.bare:application"
CLIENTS = 8
MANY = 32
QUEUES = 8
BULK = 500


def _one_by_one() -> list[Contestant]:
    return [
        Floor(name="plain SQL", act="submit", rows=1, clients=CLIENTS, over_http=True),
        HttpAct(name="Orbit", act="submit", clients=CLIENTS),
        HttpAct(
            name="bare DRF view, ORM",
            act="submit",
            clients=CLIENTS,
            kind="bare",
            application=BARE,
        ),
        MinimalAnswer(clients=CLIENTS),
    ]


def _bulk() -> list[Contestant]:
    return [
        Floor(name="plain SQL", act="submit", rows=BULK, clients=1, over_http=True),
        HttpAct(name="Orbit", act="submit", clients=1, tasks_per_call=BULK),
        ProcrastinateBulk(size=BULK),
    ]


def _queues() -> list[Contestant]:
    return [
        HttpAct(name="one queue", act="submit", clients=MANY),
        HttpAct(name="eight queues", act="submit", clients=MANY, queues=QUEUES),
    ]


CASES = (
    Case(
        name="submit",
        title=f"Submit over HTTP one by one, {CLIENTS} clients",
        unit="tasks/s",
        contestants=_one_by_one,
        targets=(
            Target("Orbit", "plain SQL", 0.25),
            Target("Orbit", "bare DRF view, ORM", 1.2),
        ),
    ),
    Case(
        name="submit-bulk",
        title=f"Submit in bulk, {BULK} tasks a call, one client",
        unit="tasks/s",
        contestants=_bulk,
        targets=(Target("Orbit", "Procrastinate, batch_defer", 0.4),),
    ),
    Case(
        name="one-queue",
        title=f"Submit over HTTP, {MANY} clients, one queue or {QUEUES}",
        unit="tasks/s",
        contestants=_queues,
        targets=(Target("one queue", "eight queues", 0.8),),
    ),
)
