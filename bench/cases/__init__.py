"""The benchmarks by name; each module defines one or more."""

from bench.cases import drain, jobs, memory, recovery, submit
from bench.contest import Case

CASES: dict[str, Case] = {
    case.name: case
    for case in (
        *drain.CASES,
        *submit.CASES,
        *recovery.CASES,
        *jobs.CASES,
        *memory.CASES,
    )
}
