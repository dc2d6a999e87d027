"""The recovery story happens as it is told, with a real kill -9."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]
STORY = CHECKOUT / "docs" / "recovery-story.sh"

pytestmark = pytest.mark.xdist_group("live_stack")


def test_the_recovery_story_happens_as_it_is_told(live_stack):
    told = subprocess.run(
        [str(STORY), str(live_stack.state_dir)],
        env={**os.environ, "PYTHON": sys.executable},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )

    assert told.returncode == 0, told.stdout + told.stderr
    scenes = re.findall(r"^\d\. .*$", told.stdout, re.MULTILINE)
    assert len(scenes) == 9
    assert "9007199254740993" in told.stdout
    assert told.stdout.count('"amount": 1.10') == 2, "submitted, and in the retry"
    for token in live_stack.tokens.values():
        assert token not in told.stdout + told.stderr


def test_without_a_stack_the_story_says_what_to_start(tmp_path):
    told = subprocess.run(
        [str(STORY), str(tmp_path)],
        env={**os.environ, "PYTHON": sys.executable},
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )

    assert told.returncode == 1
    assert "make run" in told.stderr
