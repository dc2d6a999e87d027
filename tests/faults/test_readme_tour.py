"""The tour of the README is true word for word: its lines run, its answers come."""

import json
import os
import re
import subprocess
import sys
from decimal import Decimal
from itertools import zip_longest
from pathlib import Path

import pytest

README = Path(__file__).resolve().parents[2] / "README.md"
BLOCK = re.compile(r"^```(sh|json)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NEXT = "-- next block --"

pytestmark = pytest.mark.xdist_group("live_stack")


def tour():
    """The blocks of the tour: each script with the answers that follow it."""
    section = README.read_text().split("## Five minutes with curl")[1].split("\n## ")[0]
    steps = []
    for kind, text in BLOCK.findall(section):
        if kind == "sh":
            steps.append((text, []))
        else:
            steps[-1][1].extend(values(text))
    return steps


def values(text):
    """The JSON values that stand one after the other; numbers keep their digits."""
    decoder = json.JSONDecoder(parse_float=Decimal)
    found = []
    while text := text.strip():
        value, end = decoder.raw_decode(text)
        found.append(value)
        text = text[end:]
    return found


def says(answer, told):
    """Whether the answer has all that is told; "…" stands for anything."""
    if told == "…":
        return True
    if isinstance(told, dict):
        return isinstance(answer, dict) and all(
            name in answer and says(answer[name], value) for name, value in told.items()
        )
    if isinstance(told, list):
        return isinstance(answer, list) and all(
            says(*pair) for pair in zip_longest(answer, told)
        )
    return str(answer) == str(told)


def test_the_tour_is_true_word_for_word(live_stack, tmp_path):
    (tmp_path / ".orbit").symlink_to(live_stack.state_dir)
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    python = tmp_path / ".venv" / "bin" / "python"
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    steps = tour()
    assert len(steps) == 8
    script = f"echo '{NEXT}'\n".join(f"{text}\n" for text, _ in steps)

    done = subprocess.run(
        ["/bin/bash", "-eu", "-c", script],
        cwd=tmp_path,
        env=os.environ,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    for (text, told), output in zip(steps, done.stdout.split(NEXT), strict=True):
        answers = values(output) if told else []
        assert says(answers, told), f"{text}\ntold {told}\nbut got {answers}"
