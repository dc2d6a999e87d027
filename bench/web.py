"""Web processes under measurement: gunicorn, as Orbit runs it in production."""

import sys
import time
import urllib.error
import urllib.request

import psutil

from bench.processes import Children
from bench.servers import free_port

WORKERS = 2
THREADS = 8
START_LIMIT = 30.0
CONFIG = f"gunicorn gthread, {WORKERS} processes of {THREADS} threads"


class Web:
    """A gunicorn with two worker processes, the same for Orbit and for bare views."""

    def __init__(self, *, application: str, children: Children) -> None:
        self.port = free_port()
        self.children = children
        self.master = children.start(
            [
                sys.executable,
                "-m",
                "gunicorn",
                application,
                "-k",
                "gthread",
                "--preload",
                "-w",
                str(WORKERS),
                "--threads",
                str(THREADS),
                "-b",
                f"127.0.0.1:{self.port}",
                "--keep-alive",
                "75",
                "--log-level",
                "warning",
                "--no-control-socket",
            ]
        )

    def wait(self, *, path: str) -> None:
        """Until the application answers anything at all."""
        until = time.monotonic() + START_LIMIT
        while time.monotonic() < until:
            self.children.check()
            try:
                urllib.request.urlopen(
                    f"http://127.0.0.1:{self.port}{path}", timeout=10
                )
            except urllib.error.HTTPError:
                return
            except OSError:
                time.sleep(0.05)
            else:
                return
        raise RuntimeError(self.children.output())

    def resident_mb(self) -> float:
        """The largest worker process, in MiB."""
        workers = psutil.Process(self.master.pid).children()
        return max(worker.memory_info().rss for worker in workers) / 2**20
