"""The state directory: who holds it, its secrets, and the files that speak of it."""

import fcntl
import json
import os
import secrets
from pathlib import Path
from typing import IO, Any

from orbit.stack.failures import StackFailure

SECRETS = "secrets.json"
STACK = "stack.json"
DEMO = "demo.json"
OWNER_ONLY = 0o600


class StateDirectory:
    """One stack's directory, held by this process until it ends."""

    def __init__(self, path: Path) -> None:
        """Make the directory and hold it; StackFailure when another stack does."""
        self.path = path.resolve()
        self.path.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._lock = self._hold()
        self._secrets = self.read(SECRETS) or {}

    def secret(self, name: str) -> str:
        """The secret of that name, the same at every start; made at the first."""
        if name not in self._secrets:
            self._secrets[name] = secrets.token_hex(32)
            self.write(SECRETS, self._secrets)
        return str(self._secrets[name])

    def write(self, name: str, content: object) -> None:
        """Put JSON into a file that its owner alone may read, all at once."""
        part = self.path / f"{name}.part"
        part.unlink(missing_ok=True)
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, OWNER_ONLY)
        with os.fdopen(descriptor, "w") as file:
            json.dump(content, file, indent=2)
            file.flush()
            os.fsync(file.fileno())
        part.replace(self.path / name)

    def read(self, name: str) -> dict[str, Any] | None:
        """What write() put there; None when there is nothing."""
        try:
            content: dict[str, Any] = json.loads((self.path / name).read_text())
        except FileNotFoundError:
            return None
        return content

    def remove(self, name: str) -> None:
        """Delete the file if it is there."""
        (self.path / name).unlink(missing_ok=True)

    def _hold(self) -> IO[str]:
        lock = (self.path / "lock").open("a+")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            holder = lock.read().strip() or "unknown"
            raise StackFailure(
                f"Another stack (process {holder}) uses {self.path}."
                " Stop it, or choose another directory with --state-dir."
            ) from None
        lock.truncate(0)
        lock.write(f"{os.getpid()}\n")
        lock.flush()
        return lock
