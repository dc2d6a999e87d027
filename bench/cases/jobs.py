"""The open job API: trigger, replay, and the execution behind them."""

from bench import execution
from bench.contest import Case, Ceiling, Contestant, Target
from bench.floor import Floor
from bench.minimal_answer import MinimalAnswer
from bench.orbit.trigger import Replay, Trigger

BARE = "bench.bare_trigger:application"
CLIENTS = 8
MOST_MS = 50.0


def _trigger() -> list[Contestant]:
    return [
        Floor(name="plain SQL", act="trigger", rows=1, clients=CLIENTS),
        Trigger(name="Orbit", clients=CLIENTS),
        Trigger(
            name="bare DRF view, ORM and Redis",
            clients=CLIENTS,
            kind="bare",
            application=BARE,
        ),
        MinimalAnswer(clients=CLIENTS),
    ]


def _replay() -> list[Contestant]:
    return [
        Replay(name="Orbit, replay", clients=CLIENTS),
        Trigger(name="Orbit, new", clients=CLIENTS),
    ]


def _execution() -> list[Contestant]:
    return [execution.orbit(), execution.bare()]


CASES = (
    Case(
        name="trigger",
        title=f"Trigger over HTTP by new keys, {CLIENTS} clients",
        unit="calls/s",
        contestants=_trigger,
        targets=(Target("Orbit", "bare DRF view, ORM and Redis", 1.0),),
    ),
    Case(
        name="replay",
        title=f"Trigger over HTTP by the same key again, {CLIENTS} clients",
        unit="calls/s",
        contestants=_replay,
        targets=(Target("Orbit, replay", "Orbit, new", 1.5),),
    ),
    Case(
        name="execution",
        title="Executions through Celery, accepted to final, two workers",
        unit="executions/s",
        contestants=_execution,
        targets=(Target("Orbit", "Celery (Redis), no-op", 0.7),),
        ceilings=(Ceiling("Orbit", "p99 ms", MOST_MS),),
    ),
)
