"""Ends the processes of a stack whose supervisor died without doing so.

It reads standard input, a pipe that the supervisor holds open and never writes to:
the kernel closes it however the supervisor ends.
"""

import os
import subprocess
import sys

from orbit.stack.processes import CHECKOUT, end_marked, python

PATIENCE = 5.0


def appoint(instance: str) -> subprocess.Popen[bytes]:
    """A warden for the processes with this mark; close its stdin to let it act."""
    return subprocess.Popen(
        python("-m", "orbit.stack.warden", instance),
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
    end_marked(sys.argv[1], patience=PATIENCE)


if __name__ == "__main__":
    main()
