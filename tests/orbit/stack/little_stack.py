"""A stack of idle processes for the supervisor's tests: little_stack.py DIRECTORY."""

import sys
from pathlib import Path

from orbit.stack import supervisor as supervision
from orbit.stack.failures import StackFailure
from orbit.stack.processes import Command, python
from orbit.stack.state import StateDirectory
from orbit.stack.supervisor import StopAsked, Supervisor

IDLE = "import signal; signal.pause()"
STUBBORN = f"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); {IDLE}"
PARENT = f"""
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", {IDLE!r}])
print("grandchild", child.pid, flush=True)
{IDLE}
"""


def main(directory):
    supervision.PATIENCE = 1.0
    state = StateDirectory(directory)
    with Supervisor(state_mark=state.secret("mark")[:16]) as supervisor:
        children = [
            *supervisor.start(Command(name="idle", argv=python("-c", IDLE))),
            *supervisor.start(
                Command(name="stubborn", argv=python("-c", STUBBORN)),
                Command(name="parent", argv=python("-c", PARENT)),
            ),
        ]

        def write():
            pids = {child.command.name: child.process.pid for child in children}
            state.write("stack.json", {"processes": pids})

        write()
        supervisor.keep(changed=write)


if __name__ == "__main__":
    try:
        main(Path(sys.argv[1]))
    except StopAsked:
        sys.exit(0)
    except StackFailure as failure:
        sys.exit(f"{failure}")
