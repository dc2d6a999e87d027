"""Review and retry over HTTP."""

from bench.contest import Case, Ceiling, Contestant, Target
from bench.floor import Floor
from bench.orbit.http import HttpAct

BARE = "bench.bare:application"
CLIENTS = 8
MOST_MS = 30.0


def _contestants(act: str) -> list[Contestant]:
    return [
        Floor(name="plain SQL", act=act, rows=1, clients=CLIENTS, over_http=True),
        HttpAct(name="Orbit", act=act, clients=CLIENTS),
        HttpAct(
            name="bare DRF view, ORM",
            act=act,
            clients=CLIENTS,
            kind="bare",
            application=BARE,
        ),
    ]


def _case(act: str) -> Case:
    return Case(
        name=act,
        title=f"{act.capitalize()} over HTTP, {CLIENTS} clients",
        unit="calls/s",
        contestants=lambda: _contestants(act),
        targets=(
            Target("Orbit", "plain SQL", 0.25),
            Target("Orbit", "bare DRF view, ORM", 1.2),
        ),
        ceilings=(Ceiling("Orbit", "p99 ms", MOST_MS),),
    )


CASES = (_case("review"), _case("retry"))
