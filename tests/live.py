"""A whole stack for a test: `manage.py runstack` on a free port, and its fixtures.

Tests that share `live_stack` belong to one xdist group, so that it starts once:
`pytestmark = pytest.mark.xdist_group("live_stack")`.
"""

import json
import os
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

from orbit.stack.places import remove_home
from orbit.stack.processes import INSTANCE, below, python
from tests.servers import DATABASE, REDIS, SESSION

CHECKOUT = Path(__file__).resolve().parent.parent
OF_THE_SUITE = ("DATABASE_URL", "REDIS_URL", "CELERY_BROKER_URL", DATABASE, REDIS)
PATIENCE = 90


def eventually(look, *, within=PATIENCE):
    """The first true value of look(); fails the test when there is none in time.

    Patient by default: a busy machine is slow, and only a broken promise waits so long.
    """
    end = time.monotonic() + within
    while time.monotonic() < end:
        if found := look():
            return found
        time.sleep(0.05)
    pytest.fail(f"{look} was not true within {within} s")


def environment(**more):
    """The caller's variables without those that point at the suite's own servers."""
    ours = {
        name: value
        for name, value in os.environ.items()
        if name not in OF_THE_SUITE and not name.startswith(("ORBIT_", "DJANGO_"))
    }
    return {**ours, INSTANCE: SESSION.guarded(), **more}


class LiveStack:
    """A running `manage.py runstack`; its output is in `log`."""

    def __init__(self, *arguments, **variables):
        self.state_dir = SESSION.directory()
        self.log = self.state_dir / "output.log"
        self.arguments = ("--state-dir", str(self.state_dir), *arguments)
        self.variables = variables

    def start(self):
        """Start it and wait until it says that it is ready."""
        with self.log.open("a") as output:
            self.popen: subprocess.Popen[bytes] = subprocess.Popen(
                python("manage.py", "runstack", "--port", "0", *self.arguments),
                cwd=CHECKOUT,
                env=environment(**self.variables),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        eventually(lambda: self.popen.poll() is not None or self.described)
        assert self.popen.poll() is None, self.log.read_text()
        return self

    @property
    def described(self) -> Any:
        """What stack.json says at this moment; None while it is not ready."""
        try:
            return json.loads((self.state_dir / "stack.json").read_text())
        except FileNotFoundError:
            return None

    @property
    def base_url(self):
        """Where its web process answers."""
        return self.described["base_url"]

    @property
    def tokens(self):
        """The demo's tokens: submitter, worker, operator, auditor and so on."""
        return self.described["demo"]["tokens"]

    @property
    def processes(self):
        """The ids of its processes by name; "workers" is a list."""
        return self.described["processes"]

    def family(self):
        """The supervisor and all that runs below it, now."""
        return below(self.popen.pid)

    def stop(self):
        """Ask it to stop; answers its exit code."""
        if self.popen.poll() is None:
            self.popen.terminate()
        return self.popen.wait(timeout=30)

    def remove(self):
        """Stop it and delete its directory."""
        self.stop()
        remove_home(self.state_dir)
        shutil.rmtree(self.state_dir)


def running(processes):
    """Those that have not ended."""
    return [
        it
        for it in processes
        if it.is_running() and it.status() != psutil.STATUS_ZOMBIE
    ]


@pytest.fixture(scope="session")
def live_stack():
    """One whole stack with demo data, shared by the tests that only use it."""
    stack = LiveStack()
    try:
        yield stack.start()
    finally:
        stack.remove()
