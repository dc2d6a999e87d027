"""A door to PostgreSQL that breaks a connection exactly at its COMMIT."""

import shutil
import socket
import tempfile
import threading
from contextlib import closing, suppress
from pathlib import Path
from urllib.parse import urlencode

from orbit.stack.postgres import SOCKET_NAME

COMMIT = b"Q\x00\x00\x00\x0bCOMMIT\x00"


class Cut:
    """Forwards a Unix socket to the server's; `url` leads through it."""

    def __init__(self, server):
        self.server = server
        self.directory = Path(tempfile.mkdtemp(prefix="orbit-cut-"))
        self.listener = socket.socket(socket.AF_UNIX)
        self.armed = None
        self.has_struck = False

    @property
    def url(self):
        """The superuser's address through this door."""
        where = urlencode({"host": str(self.directory)}, safe="/")
        return f"{self.server.url().split('?')[0]}?{where}"

    def __enter__(self):
        self.listener.bind(str(self.directory / SOCKET_NAME))
        self.listener.listen(64)
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_):
        with suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        shutil.rmtree(self.directory)

    def at_commit(self, *, is_delivered):
        """Break the next connection that commits, after or before it is passed on."""
        self.has_struck = False
        self.armed = is_delivered

    def _accept(self):
        with suppress(OSError):
            while True:
                client, _ = self.listener.accept()
                threading.Thread(target=self._serve, args=[client], daemon=True).start()

    def _serve(self, client):
        with closing(client), closing(socket.socket(socket.AF_UNIX)) as server:
            server.connect(str(self.server.postgres.home / SOCKET_NAME))
            back = threading.Thread(target=pump, args=[server, client], daemon=True)
            back.start()
            with suppress(OSError):
                while data := client.recv(65536):
                    if self.armed is not None and COMMIT in data:
                        self._strike(client, server, data)
                        break
                    server.sendall(data)
            with suppress(OSError):
                server.shutdown(socket.SHUT_RDWR)
            back.join()

    def _strike(self, client, server, data):
        is_delivered, self.armed = self.armed, None
        # From here on nothing reaches the client, not even the answer.
        client.shutdown(socket.SHUT_RDWR)
        if is_delivered:
            server.sendall(data)
            server.settimeout(10)
            with suppress(OSError):
                server.shutdown(socket.SHUT_WR)
        self.has_struck = True


def pump(source, target):
    """Pass everything on until the source ends; then end the target."""
    with suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
    with suppress(OSError):
        target.shutdown(socket.SHUT_RDWR)
