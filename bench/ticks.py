"""One timestamp for each finished task, written by workers and read by the run.

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

    def __init__(self) -> None:
        self.pid = 0
        self.offset = 0
        self.file: mmap.mmap | None = None

    def tick(self, *, times: int = 1) -> None:
        """Record that this process finished `times` tasks just now."""
        if self.pid != os.getpid():
            self._open()
        stamp = STAMP.pack(time.monotonic()) * times
        self.file[self.offset : self.offset + len(stamp)] = stamp  # type: ignore[index]
        self.offset += len(stamp)

    def _open(self) -> None:
        self.pid = os.getpid()
        self.offset = 0
        path = Path(os.environ["BENCH_TICKS"], f"{self.pid}.ticks")
        with path.open("w+b") as file:
            file.truncate(CAPACITY * STAMP.size)
            self.file = mmap.mmap(file.fileno(), 0)


RECORDER = Recorder()
tick = RECORDER.tick


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


def _first(path: Path) -> float:
    with path.open("rb") as file:
        head = file.read(STAMP.size)
    return float(STAMP.unpack(head)[0]) if len(head) == STAMP.size else 0.0


def _stamps(path: Path) -> list[float]:
    content = path.read_bytes()
    return [s for (s,) in STAMP.iter_unpack(content) if s > 0]
