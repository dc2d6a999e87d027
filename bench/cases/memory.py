"""How much memory a web process holds after it has worked."""

from bench.contest import Case, Ceiling, Contestant, Round
from bench.orbit.http import HttpAct

MOST_MB = 120.0


class WebMemory(HttpAct):
    """The resident size of the larger web process after a round of submits."""

    def run(self, *, seconds: float) -> Round:
        """Megabytes (2**20) in place of a rate."""
        super().run(seconds=seconds)
        assert self.web
        return Round(rate=self.web.resident_mb())


def _contestants() -> list[Contestant]:
    return [WebMemory(name="Orbit, web process", act="submit")]


CASES = (
    Case(
        name="memory",
        title="Memory of a web process after submits",
        unit="MiB",
        contestants=_contestants,
        ceilings=(Ceiling("Orbit, web process", "median", MOST_MB),),
    ),
)
