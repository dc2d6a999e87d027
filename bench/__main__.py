"""`python -m bench [case …] [--rounds 3] [--seconds 5] [--only Orbit]`, or `growth`."""

import argparse
import signal
import sys
import warnings

# One package of the embedded PostgreSQL warns of a missing runtime directory.
warnings.filterwarnings("ignore", category=RuntimeWarning)

from bench import growth, report  # noqa: E402
from bench.cases import CASES  # noqa: E402
from bench.contest import Contestant, Line  # noqa: E402
from bench.servers import Servers  # noqa: E402

GROWTH = "growth"  # takes hours at full size: only when it is named


def arguments() -> argparse.Namespace:
    """What the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m bench")
    parser.add_argument("cases", nargs="*", metavar="case", help=", ".join(CASES))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--scale", type=float, default=1.0, help="of growth")
    parser.add_argument("--only", help="contestants whose name has this in it")
    asked = parser.parse_args()
    unknown = [name for name in asked.cases if name not in {*CASES, GROWTH}]
    if unknown:
        parser.error(f"no case {', '.join(unknown)}; there are: {', '.join(CASES)}")
    return asked


def measure(
    contestants: list[Contestant], *, servers: Servers, rounds: int, seconds: float
) -> list[Line]:
    """All rounds; contestants take turns, so that drift meets each alike."""
    lines = [Line(name=c.name, kind=c.kind, config=c.config) for c in contestants]
    for number in range(1, rounds + 1):
        for contestant, line in zip(contestants, lines, strict=True):
            say(f"  round {number}: {contestant.name} … ")
            try:
                contestant.setup(servers, seconds=seconds)
                measured = contestant.run(seconds=seconds)
            except RuntimeError as error:
                line.notes.append("failed in a round")
                say(f"FAILED\n{error}\n")
            else:
                line.add(measured)
                say(f"{measured.rate:.0f}\n")
            finally:
                contestant.teardown()
    return lines


def say(text: str) -> None:
    """Progress, apart from the result."""
    sys.stderr.write(text)
    sys.stderr.flush()


def measure_case(
    name: str, *, servers: Servers, asked: argparse.Namespace
) -> dict[str, list[Line]]:
    """The lines of one case, its table printed."""
    if name == GROWTH:
        grown = growth.run(servers=servers, scale=asked.scale, seconds=asked.seconds)
        sys.stdout.write(growth.table(grown) + "\n")
        return {f"growth: {act}": lines for act, lines in grown.items()}
    case = CASES[name]
    say(f"{case.title}\n")
    lines = measure(
        [c for c in case.contestants() if not asked.only or asked.only in c.name],
        servers=servers,
        rounds=asked.rounds,
        seconds=asked.seconds,
    )
    sys.stdout.write(report.table(case, lines) + "\n")
    sys.stdout.flush()
    return {name: lines}


def main() -> None:
    """Measure what was asked, print the tables, write the JSON."""
    # A run that is told to stop still stops its servers.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    asked = arguments()
    measured: dict[str, list[Line]] = {}
    with Servers() as servers:
        postgres = servers.version()
        for name in asked.cases or CASES:
            measured |= measure_case(name, servers=servers, asked=asked)
    path = report.write(measured, postgres=postgres)
    say(f"\n{path}\n")


if __name__ == "__main__":
    main()
