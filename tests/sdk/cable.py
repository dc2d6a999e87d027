"""A TCP cable between a client and a server that a test can cut and mend."""

import socket
import threading
from contextlib import contextmanager


class Cable:
    """Carries bytes both ways; while cut it takes them and delivers nothing."""

    def __init__(self, port):
        self.port = port
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.base_url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        self.ends = []
        self.is_cut = False
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self):
        """From now on nothing arrives, on old and new connections."""
        self.is_cut = True

    def mend(self):
        """New connections work again; the old ones are gone."""
        self.is_cut = False
        self._close_ends()

    def close(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self._close_ends()

    def _close_ends(self):
        ends, self.ends = self.ends, []
        for end in ends:
            with_shutdown(end)

    def _accept(self):
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            far = socket.create_connection(("127.0.0.1", self.port))
            self.ends += [near, far]
            for source, target in ((near, far), (far, near)):
                threading.Thread(
                    target=self._carry, args=(source, target), daemon=True
                ).start()

    def _carry(self, source, target):
        try:
            while data := source.recv(65_536):
                if not self.is_cut:
                    target.sendall(data)
        except OSError:
            pass
        for end in (source, target):
            with_shutdown(end)
            end.close()


def with_shutdown(end):
    """Wake whoever reads from it; closing alone would not."""
    try:
        end.shutdown(socket.SHUT_RDWR)
    except OSError:
        return


@contextmanager
def cable_to(base_url):
    """A cable to the server of that URL."""
    cable = Cable(int(base_url.rsplit(":", 1)[1]))
    try:
        yield cable
    finally:
        cable.close()
