"""One timestamp for each finished task, written by workers and read by the run.

Workers that know since when a task waited write that beside it.

Every worker process appends to its own memory-mapped file, so that recording costs
well under a microsecond and is the same for Orbit and for each peer.
"""

import mmap
import os
import struct
import time
from pathlib import Path

CAPACITY = 2_000_000
STAMP = struct.Struct("d")


class Recorder:
    """Appends to the file of this process; a forked child opens its own."""

    def __init__(self, suffix: str) -> None:
        self.suffix = suffix
        self.pid = 0
        self.offset = 0
        self.file: mmap.mmap | None = None

    def tick(self, *, times: int = 1) -> None:
        """Record that this process finished `times` tasks just now."""
        self.write(time.monotonic(), times=times)

    def write(self, value: float, *, times: int = 1) -> None:
        """Append `value` so many times."""
        if self.pid != os.getpid():
            self._open()
        stamp = STAMP.pack(value) * times
        self.file[self.offset : self.offset + len(stamp)] = stamp  # type: ignore[index]
        self.offset += len(stamp)

    def _open(self) -> None:
        self.pid = os.getpid()
        self.offset = 0
        path = Path(os.environ["BENCH_TICKS"], f"{self.pid}{self.suffix}")
        with path.open("w+b") as file:
            file.truncate(CAPACITY * STAMP.size)
            self.file = mmap.mmap(file.fileno(), 0)


TICKS, WAITS = ".ticks", ".waits"
RECORDER = Recorder(TICKS)
WAITED = Recorder(WAITS)
tick = RECORDER.tick


def tick_waited(*, since: float) -> None:
    """Record a task that just began and has waited since then; clock: time.time."""
    WAITED.write(time.time() - since)
    tick()


def started(folder: Path) -> int:
    """How many processes have finished their first task."""
    firsts = [_first(path) for path in folder.glob("*.ticks")]
    return sum(first > 0 for first in firsts)


def read(folder: Path) -> list[list[float]]:
    """The timestamps of each process, in order; clock: time.monotonic."""
    return [stamps for path in folder.glob("*.ticks") if (stamps := _stamps(path))]


def rate(folder: Path, *, until: float) -> float:
    """Tasks per second from when the last process had started, up to `until`."""
    processes = read(folder)
    if not processes:
        raise RuntimeError("No worker finished a task.")
    start = max(stamps[0] for stamps in processes)
    counted = [s for stamps in processes for s in stamps if start < s <= until]
    if not counted:
        raise RuntimeError("The queue was empty before every worker had started.")
    return len(counted) / (max(counted) - start)


def waits_ms(folder: Path, *, since: float) -> list[float]:
    """How long each task waited that was finished after `since`, in milliseconds."""
    found: list[float] = []
    for path in folder.glob(f"*{TICKS}"):
        stamps = _stamps(path)
        waits = STAMP.iter_unpack(path.with_suffix(WAITS).read_bytes())
        pairs = zip(stamps, waits, strict=False)  # the file of waits is longer
        found += [wait * 1000 for stamp, (wait,) in pairs if stamp > since]
    return found


def _first(path: Path) -> float:
    with path.open("rb") as file:
        head = file.read(STAMP.size)
    return float(STAMP.unpack(head)[0]) if len(head) == STAMP.size else 0.0


def _stamps(path: Path) -> list[float]:
    content = path.read_bytes()
    return [s for (s,) in STAMP.iter_unpack(content) if s > 0]
