"""Child processes: started in a session of their own, stopped without a remainder."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

import psutil

from orbit.stack.accounts import Account

CHECKOUT = Path(__file__).resolve().parent.parent.parent
INSTANCE = "ORBIT_STACK_INSTANCE"  # marks every process that a stack started


@dataclass(frozen=True, kw_only=True)
class Command:
    """What to run, as whom, and the signal that asks it to end."""

    name: str
    argv: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    account: Account | None = None
    stop_signal: signal.Signals = signal.SIGTERM
    inherited: tuple[int, ...] = ()


class Process:
    """One running command; `instance` is the mark that `end_marked` looks for."""

    def __init__(
        self, command: Command, *, instance: str, output: int | IO[str] = -1
    ) -> None:
        self.command = command
        account = command.account
        self.popen = subprocess.Popen(
            command.argv,
            cwd="/" if account else CHECKOUT,
            env={**os.environ, **command.environment, INSTANCE: instance},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
            pass_fds=command.inherited,
            user=account.uid if account else None,
            group=account.gid if account else None,
            extra_groups=[] if account else None,
        )

    @property
    def pid(self) -> int:
        """The id of the process itself, not of what it started."""
        return self.popen.pid

    def exit_code(self) -> int | None:
        """None while it runs."""
        return self.popen.poll()

    def ask_to_end(self) -> None:
        """Send the command's stop signal, if it still runs."""
        if self.popen.poll() is None:
            self.popen.send_signal(self.command.stop_signal)

    def stop(self, *, within: float = 10) -> None:
        """Ask it to end and wait; kill it and all it started after `within` seconds."""
        self.ask_to_end()
        try:
            self.popen.wait(timeout=within)
        except subprocess.TimeoutExpired:
            self.kill()
        self.kill_orphans()

    def kill(self) -> None:
        """End it and everything below it at once, as a crash would."""
        kill_all(below(self.pid))
        self.popen.wait()

    def kill_orphans(self) -> None:
        """End what a dead process left running in its session."""
        kill_all([it for it in psutil.process_iter() if _session(it) == self.pid])


def below(pid: int) -> list[psutil.Process]:
    """The process and all its descendants; empty when it is gone."""
    try:
        top = psutil.Process(pid)
        return [top, *top.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def kill_all(found: list[psutil.Process]) -> None:
    """Send SIGKILL to each and wait until none is left."""
    _signal_all(found, signal.SIGKILL)
    wait_until_gone(found, within=10)


def wait_until_gone(found: list[psutil.Process], *, within: float) -> bool:
    """Whether all of them ended in time; one that waits to be reaped has ended."""
    end = time.monotonic() + within
    while any(_lives(process) for process in found):
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


def end_marked(mark: str, *, patience: float) -> int:
    """End every process whose mark starts with `mark`; answers how many there were.

    They are asked by SIGINT first, the quick clean stop of every server here, and
    killed after `patience` seconds.
    """
    found = [it for it in psutil.process_iter() if _mark(it).startswith(mark)]
    _signal_all(found, signal.SIGINT)
    if not wait_until_gone(found, within=patience):
        kill_all(found)
    return len(found)


def python(*arguments: str) -> tuple[str, ...]:
    """The command line of this interpreter with these arguments."""
    return (sys.executable, *arguments)


def _signal_all(found: list[psutil.Process], number: signal.Signals) -> None:
    for process in found:
        try:
            process.send_signal(number)
        except psutil.NoSuchProcess:
            continue


def _lives(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def _mark(process: psutil.Process) -> str:
    try:
        own = process.pid == os.getpid()
        return "" if own else process.environ().get(INSTANCE, "")
    except psutil.Error:
        return ""


def _session(process: psutil.Process) -> int:
    try:
        return os.getsid(process.pid)
    except OSError:
        return -1
