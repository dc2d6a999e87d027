"""The table that a run prints and the JSON that it writes."""

import json
import os
import platform
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from bench.contest import Case, Ceiling, Line

RESULTS = Path(__file__).parent / "results"
PACKAGES = (
    "django",
    "djangorestframework",
    "gunicorn",
    "psycopg",
    "celery",
    "redis",
    "procrastinate",
    "pgqueuer",
    "huey",
    "dramatiq",
    "django-tasks-db",
    "django-q2",
)


def table(case: Case, lines: list[Line]) -> str:
    """One case, as a Markdown table with its targets below."""
    orbit = next((line for line in lines if line.kind == "orbit"), None)
    rows = [
        f"\n### {case.title} ({case.name})\n",
        f"| | {case.unit}, median | rounds | Orbit is times | p50 ms | p99 ms | how |",
        "|---|---:|---|---:|---:|---:|---|",
    ]
    rows += [_row(line, orbit) for line in lines]
    rows += [f"\n{verdict}" for verdict in verdicts(case, lines)]
    return "\n".join(rows)


def verdicts(case: Case, lines: list[Line]) -> list[str]:
    """Each target of the case, met or missed."""
    medians = {line.name: line.median for line in lines}
    answers = []
    for target in case.targets:
        left, right = medians.get(target.line, 0), medians.get(target.against, 0)
        if not left or not right:
            answers.append(f"not measured: {target.line} / {target.against}")
            continue
        ratio = left / right
        met = "met" if ratio >= target.ratio else "MISSED"
        answers.append(
            f"{met}: {target.line} / {target.against} = {ratio:.2f},"
            f" target {target.ratio:.2f}"
        )
    return answers + [
        _ceiling(ceiling, line)
        for ceiling in case.ceilings
        for line in lines
        if line.name == ceiling.line and line.rates
    ]


def _ceiling(ceiling: Ceiling, line: Line) -> str:
    is_median = ceiling.measure == "median"
    value = line.median if is_median else line.percentile(99) or 0.0
    met = "met" if value <= ceiling.most else "MISSED"
    return (
        f"{met}: {line.name}, {ceiling.measure} = {value:.1f},"
        f" at most {ceiling.most:.0f}"
    )


def write(measured: dict[str, list[Line]], *, postgres: str) -> Path:
    """Everything as JSON, with versions and machine; answers where."""
    RESULTS.mkdir(exist_ok=True)
    now = datetime.now(UTC)
    path = RESULTS / f"{now:%Y%m%dT%H%M%SZ}.json"
    content = {
        "at": now.isoformat(),
        "machine": machine(),
        "versions": versions(postgres=postgres),
        "cases": {
            name: [
                asdict(line)
                | {
                    "latencies_ms": len(line.latencies_ms),
                    "median": line.median,
                    "p50_ms": line.percentile(50),
                    "p99_ms": line.percentile(99),
                }
                for line in lines
            ]
            for name, lines in measured.items()
        },
    }
    path.write_text(json.dumps(content, indent=1))
    return path


def machine() -> dict[str, object]:
    """What the numbers were measured on."""
    return {
        "system": platform.platform(),
        "processors": os.cpu_count(),
        "python": platform.python_version(),
        "load_before": os.getloadavg()[0],
    }


def versions(*, postgres: str) -> dict[str, str]:
    """Of everything that took part."""
    return {"postgresql": postgres, **{name: version(name) for name in PACKAGES}}


def _row(line: Line, orbit: Line | None) -> str:
    ratio = ""
    if orbit and line is not orbit and line.median and orbit.median:
        ratio = f"{orbit.median / line.median:.2f}"
    rounds = " ".join(f"{rate:.0f}" for rate in line.rates) or "failed"
    how = "; ".join([line.config, *sorted(set(line.notes))])
    return (
        f"| {line.name} | {line.median:.0f} | {rounds} | {ratio} |"
        f" {_ms(line.percentile(50))} | {_ms(line.percentile(99))} | {how} |"
    )


def _ms(value: float | None) -> str:
    return "" if value is None else f"{value:.1f}"
