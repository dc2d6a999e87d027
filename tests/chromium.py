"""Finds a Chromium for the browser tests and installs one where there is none.

`python -m tests.chromium` prints its path, or says why there is none and fails.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
INSTALL_DEBIAN = (
    "apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium"
)


def find():
    """The path of a Chromium, ORBIT_CHROMIUM first; None when there is none."""
    named = os.environ.get("ORBIT_CHROMIUM")
    if named:
        return named
    for name in NAMES:
        if path := shutil.which(name):
            return path
    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if Path(path).exists() else None


def install():
    """Try the system's package as root, then Playwright's own build."""
    if os.geteuid() == 0 and shutil.which("apt-get"):
        say("installing the package chromium")
        run("sh", "-c", INSTALL_DEBIAN)
    if not find():
        say("installing Playwright's Chromium")
        run(sys.executable, "-m", "playwright", "install", "chromium")


def run(*argv):
    """Run it with its output on standard error, whatever its outcome."""
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    subprocess.run(argv, stdout=sys.stderr, env=environment, check=False)


def say(line):
    """Tell the person at the terminal; standard output is for the path."""
    sys.stderr.write(f"chromium: {line}\n")


if __name__ == "__main__":
    if not find():
        install()
    found = find()
    if not found:
        say("none found and none could be installed; set ORBIT_CHROMIUM to its path")
        sys.exit(1)
    sys.stdout.write(f"{found}\n")
