"""The suite's own servers end with pytest, and leave no file."""

import os
import signal
import subprocess
from pathlib import Path

import pytest

from orbit.stack.processes import below, python
from tests.live import CHECKOUT, environment, eventually, running

PLUGIN_ALONE = """
import os, signal
from tests import servers
# A suite in the background of a shell is started deaf to it.
signal.signal(signal.SIGINT, signal.default_int_handler)
servers.pytest_load_initial_conftests()
print(servers.SESSION.scratch, flush=True)
try:
    signal.pause()
finally:
    servers.pytest_unconfigure()
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_an_interrupted_or_killed_suite_leaves_nothing(number):
    suite = subprocess.Popen(
        python("-c", PLUGIN_ALONE),
        cwd=CHECKOUT,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    scratch = Path(suite.stdout.readline().strip())
    family = below(suite.pid)
    assert scratch.is_dir()
    assert len(running(family)) > 3  # itself, the warden and two servers at least

    os.kill(suite.pid, number)
    suite.communicate(timeout=20)

    eventually(lambda: not running(family) and not scratch.exists())
