"""Child processes of a contestant: started with the run's environment, all stopped."""

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


class Children:
    """Runs commands in the project's root; output is kept for the failure message."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self.environment = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
        self.folder: Path | None = None
        self.running: list[subprocess.Popen[bytes]] = []

    def run(self, *command: str, stdin: bytes = b"") -> bytes:
        """Run to its end; answers standard output, raises when it fails."""
        done = subprocess.run(
            command,
            input=stdin,
            capture_output=True,
            cwd=ROOT,
            env=self.environment,
            check=False,
        )
        if done.returncode:
            output = (done.stdout + done.stderr).decode(errors="replace")[-3000:]
            raise RuntimeError(f"{' '.join(command)}: {output}")
        return done.stdout

    def start(self, command: Sequence[str]) -> subprocess.Popen[bytes]:
        """Start in the background, in a process group of its own."""
        self.folder = self.folder or Path(tempfile.mkdtemp(prefix="orbit-bench-"))
        with (self.folder / f"{len(self.running)}.log").open("wb") as log:
            child = subprocess.Popen(
                command,
                cwd=ROOT,
                env=self.environment,
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )
        self.running.append(child)
        return child

    def check(self) -> None:
        """Raise with its output when a child has died."""
        for number, child in enumerate(self.running):
            if child.poll() is not None:
                raise RuntimeError(self.output(number))

    def output(self, number: int = 0) -> str:
        """The end of what the child wrote."""
        log = self.folder and self.folder / f"{number}.log"
        return log.read_text(errors="replace")[-3000:] if log else ""

    def stop(self) -> None:
        """Kill every group: queues are thrown away, nothing has to finish."""
        for child in self.running:
            try:
                os.killpg(child.pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        for child in self.running:
            child.wait()
        self.running.clear()
        if self.folder:
            shutil.rmtree(self.folder)
            self.folder = None
