"""Starts processes, starts again those that die, and stops them all."""

import os
import queue
import secrets
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from types import FrameType, TracebackType
from typing import IO, Self

from orbit.stack import warden
from orbit.stack.failures import StackFailure
from orbit.stack.processes import Command, Process, end_marked

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
FIRST_DELAY = 0.2
LONGEST_DELAY = 15.0
STEADY_AFTER = 30.0  # a process that ran this long starts afresh without a delay
PATIENCE = 8.0


class StopAsked(BaseException):
    """Somebody wants the stack to end."""


@dataclass(eq=False, kw_only=True)
class Child:
    """A command that is to run for as long as the stack does."""

    command: Command
    process: Process
    started_at: float = field(default_factory=time.monotonic)
    failures: int = 0

    def next_delay(self) -> float:
        """Seconds to wait before the next start, longer after each quick death."""
        steady = time.monotonic() - self.started_at > STEADY_AFTER
        self.failures = 0 if steady else self.failures + 1
        return float(min(FIRST_DELAY * 2 ** (self.failures - 1), LONGEST_DELAY))


class Supervisor:
    """The processes of one run; as a context it leaves none behind.

    `state_mark` names the state directory: processes that an earlier run left there
    are ended first.
    """

    def __init__(self, *, state_mark: str) -> None:
        self._state_mark = state_mark
        # Each run has its own mark, or a late warden would end its successor.
        self._instance = f"{state_mark}.{secrets.token_hex(4)}"
        self._stages: list[list[Child]] = []
        # Simple, since a signal handler may put into it at any moment.
        self._events: queue.SimpleQueue[Child | None] = queue.SimpleQueue()
        self._asked = ""
        self._starting = True
        self._due: list[tuple[float, Child]] = []

    def __enter__(self) -> Self:
        for number in SIGNALS:
            signal.signal(number, self._ask_to_stop)
        left = end_marked(f"{self._state_mark}.", patience=PATIENCE)
        if left:
            say("orbit", f"ended {left} processes that an earlier run left")
        self._warden = warden.appoint(self._instance)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._starting = False
        for stage in reversed(self._stages):
            _stop_together([child.process for child in stage])
        warden.dismiss(self._warden)

    def start(self, *commands: Command) -> list[Child]:
        """Start them as one stage; stages stop in the reverse order."""
        self._stop_if_asked()
        stage: list[Child] = []
        self._stages.append(stage)
        for command in commands:
            stage.append(Child(command=command, process=self._spawn(command)))
            self._watch(stage[-1])
        return stage

    def run(self, command: Command) -> None:
        """Run it to its end; StackFailure unless it succeeds."""
        child = Child(command=command, process=self._spawn(command))
        self._stages.append([child])
        code = child.process.popen.wait()
        self._stages.pop()
        self._stop_if_asked()
        if code:
            raise StackFailure(f"{command.name} failed with exit code {code}.")

    def keep(self, *, changed: Callable[[], None]) -> None:
        """Start again what dies, for ever; `changed` is called after each start."""
        self._starting = False
        while True:
            self._stop_if_asked()
            try:
                ended = self._events.get(timeout=self._time_left())
            except queue.Empty:
                self._start_due()
                changed()
                continue
            if ended:
                self._schedule(ended)

    def _ask_to_stop(self, number: int, _frame: FrameType | None) -> None:
        if self._asked:
            return
        self._asked = signal.Signals(number).name
        self._events.put(None)
        # Only what blocks during a start is interrupted: an exception out of a
        # handler can be lost in a callback, so each next step looks once more.
        if self._starting:
            self._stop_if_asked()

    def _stop_if_asked(self) -> None:
        if self._asked:
            raise StopAsked(self._asked)

    def _schedule(self, child: Child) -> None:
        child.process.kill_orphans()
        code = child.process.popen.wait()
        delay = child.next_delay()
        say(
            child.command.name,
            f"ended with exit code {code}; starting it again in {delay:g} s",
        )
        self._due.append((time.monotonic() + delay, child))

    def _time_left(self) -> float | None:
        if not self._due:
            return None
        return max(0.0, min(moment for moment, _ in self._due) - time.monotonic())

    def _start_due(self) -> None:
        now = time.monotonic()
        for moment, child in list(self._due):
            if moment <= now:
                self._due.remove((moment, child))
                child.process = self._spawn(child.command)
                child.started_at = now
                self._watch(child)

    def _spawn(self, command: Command) -> Process:
        process = Process(command, instance=self._instance)
        output = process.popen.stdout
        _start_thread(lambda: _echo(command.name, output))
        return process

    def _watch(self, child: Child) -> None:
        pid = child.process.pid

        def wait() -> None:
            # WNOWAIT leaves the exit code to the main thread, which may be quicker.
            with suppress(ChildProcessError):
                os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
            self._events.put(child)

        _start_thread(wait)


def say(name: str, line: str) -> None:
    """One line of the stack's output, with the name of the process it is from."""
    try:
        sys.stdout.write(f"{name:<11} | {line}\n")
        sys.stdout.flush()
    except (OSError, ValueError):
        return  # nobody reads any more; the stack goes on


def _start_thread(target: Callable[[], None]) -> None:
    # A signal that another thread receives does not wake the main one.
    signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    try:
        threading.Thread(target=target, daemon=True).start()
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)


def _echo(name: str, output: IO[str] | None) -> None:
    for line in output or ():
        say(name, line.rstrip("\n"))


def _stop_together(processes: list[Process]) -> None:
    for process in processes:
        process.ask_to_end()
    end = time.monotonic() + PATIENCE
    for process in processes:
        process.stop(within=max(0.0, end - time.monotonic()))
