"""Who runs PostgreSQL, which refuses to be run by root, and what they can reach."""

import os
import pwd
import subprocess
from dataclasses import dataclass
from pathlib import Path

from orbit.stack.failures import StackFailure

ORDINARY = ("postgres", "nobody")


@dataclass(frozen=True, kw_only=True)
class Account:
    """An account of this machine."""

    name: str
    uid: int
    gid: int

    def reaches(self, directory: Path) -> bool:
        """Whether the account may enter the directory."""
        # Asked of the kernel: walking the mode bits would miss access lists.
        entered = subprocess.run(
            ["/bin/sh", "-c", 'cd "$1"', "sh", str(directory)],
            user=self.uid,
            group=self.gid,
            extra_groups=[],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=False,
            cwd="/",
        )
        return entered.returncode == 0


def database_account() -> Account | None:
    """None for an ordinary user; for root the account that PostgreSQL runs under."""
    if os.geteuid() != 0:
        return None
    for name in ORDINARY:
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return Account(name=name, uid=entry.pw_uid, gid=entry.pw_gid)
    raise StackFailure(
        "PostgreSQL refuses to run as root, and there is no account"
        f" {' or '.join(ORDINARY)} to run it under. Create one, or set DATABASE_URL."
    )
