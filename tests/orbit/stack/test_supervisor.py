"""The supervisor with real processes, signals and kills."""

import json
import os
import signal
import subprocess

import psutil
import pytest

from orbit.stack.processes import below, kill_all, python
from tests.live import CHECKOUT, environment, eventually, running


class LittleStack:
    """little_stack.py in a directory."""

    def __init__(self, directory):
        self.directory = directory

    def start(self):
        (self.directory / "stack.json").unlink(missing_ok=True)
        self.popen: subprocess.Popen[str] = self.launch()
        eventually((self.directory / "stack.json").exists)
        return self

    def launch(self):
        return subprocess.Popen(
            python("-m", "tests.orbit.stack.little_stack", str(self.directory)),
            cwd=CHECKOUT,
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def processes(self):
        return json.loads((self.directory / "stack.json").read_text())["processes"]

    def others(self):
        """All of it but the supervisor: what must not outlive that."""
        # The last process that `parent` starts is in place a moment after its parent.
        parent = self.processes()["parent"]
        eventually(lambda: len(below(parent)) == 2)
        return [it for it in below(self.popen.pid) if it.pid != self.popen.pid]


@pytest.fixture
def little_stack(tmp_path):
    stack = LittleStack(tmp_path).start()
    yield stack
    kill_all(below(stack.popen.pid))
    stack.popen.communicate()


@pytest.mark.parametrize("name", ["idle", "stubborn", "parent"])
def test_a_killed_process_is_reported_and_started_again(little_stack, name):
    before = little_stack.processes()

    os.kill(before[name], signal.SIGKILL)
    after = eventually(
        lambda: (it := little_stack.processes()) != before and it,
    )

    assert psutil.pid_exists(after[name])
    others = before.keys() - {name}
    assert {it: after[it] for it in others} == {it: before[it] for it in others}
    little_stack.popen.terminate()
    output, _ = little_stack.popen.communicate(timeout=20)
    assert f"{name:<11} | ended with exit code -9; starting it again" in output


def test_what_a_killed_process_had_started_ends_before_its_successor(little_stack):
    parent = little_stack.processes()["parent"]
    (grandchild,) = eventually(lambda: psutil.Process(parent).children())

    os.kill(parent, signal.SIGKILL)
    eventually(lambda: little_stack.processes()["parent"] != parent)

    assert not running([grandchild])


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_stops_everything_the_stubborn_too(little_stack, number):
    others = little_stack.others()

    little_stack.popen.send_signal(number)
    little_stack.popen.communicate(timeout=20)

    assert little_stack.popen.returncode == 0
    assert len(others) >= 5  # three commands, the grandchild and the warden
    assert not running(others)


def test_a_second_signal_does_not_break_the_stop(little_stack):
    others = little_stack.others()

    little_stack.popen.terminate()
    little_stack.popen.send_signal(signal.SIGINT)
    little_stack.popen.communicate(timeout=20)

    assert little_stack.popen.returncode == 0
    assert not running(others)


def test_a_killed_supervisor_takes_its_processes_along(little_stack):
    others = little_stack.others()

    little_stack.popen.kill()
    little_stack.popen.wait()

    eventually(lambda: not running(others))


def test_the_next_start_ends_what_is_left_even_without_a_warden(little_stack):
    others = little_stack.others()
    (warden,) = [it for it in others if "orbit.stack.warden" in it.cmdline()]

    kill_all([warden, psutil.Process(little_stack.popen.pid)])
    little_stack.popen.communicate()
    assert running(others)
    little_stack.start()

    assert not running(others)
    assert len(running(little_stack.others())) >= 5


def test_a_second_start_on_the_same_directory_is_refused(little_stack):
    others = little_stack.others()

    second = little_stack.launch()
    output, _ = second.communicate(timeout=20)

    assert second.returncode == 1
    assert f"Another stack (process {little_stack.popen.pid}) uses" in output
    assert running(others) == others


def test_secrets_stay_the_same_and_are_for_the_owner_alone(little_stack):
    secrets = little_stack.directory / "secrets.json"
    first = secrets.read_text()

    little_stack.popen.terminate()
    little_stack.popen.communicate(timeout=20)
    little_stack.start()

    assert secrets.read_text() == first
    for name in ("secrets.json", "stack.json"):
        assert (little_stack.directory / name).stat().st_mode & 0o777 == 0o600
