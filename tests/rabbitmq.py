"""A private RabbitMQ node as an ordinary process, where the machine has one."""

import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

from orbit.stack.ports import LOOPBACK, free_port
from orbit.stack.processes import Command, Process
from tests.servers import SESSION

# Debian's wrapper in the path insists on one node for the whole machine.
PLACES = ("/usr/lib/rabbitmq/bin/rabbitmq-server", "/opt/rabbitmq/sbin/rabbitmq-server")
PATIENCE = 90


def program():
    """The server program, or None where RabbitMQ is not installed."""
    for place in PLACES:
        if Path(place).exists():
            return place
    return shutil.which("rabbitmq-server")


class RabbitServer:
    """One node with files, name and ports of its own, for guest on the loopback."""

    def __init__(self):
        self.directory = Path(tempfile.mkdtemp(prefix="orbit-test-"))
        self.port = free_port()
        self.process: Any = None
        (self.directory / "rabbitmq.conf").write_text(
            f"listeners.tcp.local = {LOOPBACK}:{self.port}\n"
        )
        (self.directory / "enabled_plugins").write_text("[].\n")

    @property
    def url(self):
        """The address for Celery."""
        return f"amqp://guest:guest@{LOOPBACK}:{self.port}//"

    def start(self):
        """Start it, after a kill too, and wait until it speaks AMQP."""
        here = str(self.directory)
        self.process = Process(
            Command(
                name="rabbitmq",
                argv=(program(),),
                environment={
                    "HOME": here,
                    "RABBITMQ_NODENAME": f"orbit{self.port}@localhost",
                    "RABBITMQ_NODE_PORT": str(self.port),
                    "RABBITMQ_NODE_IP_ADDRESS": LOOPBACK,
                    "RABBITMQ_DIST_PORT": str(free_port()),
                    "RABBITMQ_MNESIA_BASE": f"{here}/mnesia",
                    "RABBITMQ_LOG_BASE": f"{here}/log",
                    "RABBITMQ_CONFIG_FILE": f"{here}/rabbitmq",
                    "RABBITMQ_ENABLED_PLUGINS_FILE": f"{here}/enabled_plugins",
                    "RABBITMQ_CONF_ENV_FILE": f"{here}/none",
                    "ERL_EPMD_PORT": str(free_port()),
                    "ERL_EPMD_ADDRESS": LOOPBACK,
                },
            ),
            instance=SESSION.guarded(),
            output=subprocess.DEVNULL,
        )
        end = time.monotonic() + PATIENCE
        while not self._answers():
            code = self.process.exit_code()
            assert code is None, f"RabbitMQ ended with {code}: {self._said()}"
            assert time.monotonic() < end, f"RabbitMQ does not answer: {self._said()}"
            time.sleep(0.1)

    def kill(self):
        """End it at once; start() brings it back with what it kept."""
        self.process.kill()
        self.process.kill_orphans()

    def remove(self):
        """End it and delete its files."""
        if self.process:
            self.kill()
        shutil.rmtree(self.directory, ignore_errors=True)

    def _answers(self):
        try:
            with socket.create_connection((LOOPBACK, self.port), timeout=2) as line:
                line.sendall(b"AMQP\x00\x00\x09\x01")
                return line.recv(1) == b"\x01"
        except OSError:
            return False

    def _said(self):
        logs = sorted((self.directory / "log").glob("*.log"))
        return "".join(it.read_text()[-2_000:] for it in logs) or "no log"
