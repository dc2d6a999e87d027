"""Ends the processes of a stack whose supervisor died without doing so.

It reads standard input, a pipe that the supervisor holds open and never writes to:
the kernel closes it however the supervisor ends.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from orbit.stack.processes import CHECKOUT, end_marked, python

PATIENCE = 5.0


def appoint(instance: str, *, scratch: Path | None = None) -> subprocess.Popen[bytes]:
    """A warden for the processes with this mark; close its stdin to let it act.

    A scratch directory is deleted after them.
    """
    return subprocess.Popen(
        python(
            "-m", "orbit.stack.warden", instance, *([str(scratch)] if scratch else [])
        ),
        cwd=CHECKOUT,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        # Its own session, so that Ctrl-C and a killed group do not reach it.
        start_new_session=True,
    )


def dismiss(warden: subprocess.Popen[bytes]) -> None:
    """Let the warden end whatever is left, and wait for it."""
    if warden.stdin:
        warden.stdin.close()
    warden.wait()


def main() -> None:
    """Wait for the end of standard input, then end the marked processes."""
    while os.read(0, 1024):
        pass
    instance, *scratch = sys.argv[1:]
    end_marked(instance, patience=PATIENCE)
    for directory in scratch:
        shutil.rmtree(directory, ignore_errors=True)


if __name__ == "__main__":
    main()
