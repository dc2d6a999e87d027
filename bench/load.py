"""A cheap HTTP load generator: prepared requests over kept-alive raw sockets.

It shares the machine with what it measures, so it parses no more than the status and
the length. Clients are closed loops: each sends its next request when it has its
answer.
"""

import gc
import selectors
import socket
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

END_OF_HEAD = b"\r\n\r\n"
LENGTH = b"content-length:"
CHUNKED = b"transfer-encoding: chunked"
LAST_CHUNK = b"0\r\n\r\n"
STATUS = slice(9, 12)
RECEIVE = 262_144
IDLE_LIMIT = 20.0


@dataclass
class Outcome:
    """What came back; latencies are milliseconds, one for each answer."""

    seconds: float = 0.0
    latencies_ms: list[float] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)
    sample: bytes = b""
    exhausted: bool = False

    @property
    def rate(self) -> float:
        """Answers per second."""
        return len(self.latencies_ms) / self.seconds if self.seconds else 0.0

    def require(self, *allowed: int) -> None:
        """Raise when any answer had another status."""
        wrong = {s: n for s, n in self.statuses.items() if s not in allowed}
        if wrong or not self.statuses:
            raise RuntimeError(f"Answers {dict(self.statuses)}: {self.sample!r}")


class Client:
    """One connection and the answer it waits for."""

    def __init__(self, *, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.sent_at = 0.0
        self.received = b""

    def send(self, request: bytes) -> None:
        """Send whole; requests are small enough for the socket's buffer."""
        self.received = b""
        self.sent_at = time.perf_counter()
        self.socket.sendall(request)

    def answer(self) -> bytes | None:
        """The complete answer, or None while some of it is still to come."""
        part = self.socket.recv(RECEIVE)
        if not part:
            raise RuntimeError("The server closed a kept-alive connection.")
        self.received += part
        end = self.received.find(END_OF_HEAD)
        if end < 0 or not _complete(self.received, end):
            return None
        return self.received


def request(
    method: str, path: str, *, body: bytes = b"", headers: dict[str, str] | None = None
) -> bytes:
    """The bytes of one HTTP/1.1 request."""
    lines = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1"]
    if body:
        lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
    lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
    return "\r\n".join(lines).encode() + END_OF_HEAD + body


def run(
    *, port: int, requests: Iterator[bytes], clients: int, seconds: float
) -> Outcome:
    """Send from `requests` until the time or the requests are over."""
    outcome = Outcome()
    selector = selectors.DefaultSelector()
    waiting = 0
    started = time.perf_counter()
    gc.disable()
    for _ in range(clients):
        client = Client(port=port)
        selector.register(client.socket, selectors.EVENT_READ, client)
        waiting += _send_next(client, requests, outcome)
    until = started + seconds
    while waiting:
        events = selector.select(IDLE_LIMIT)
        if not events:
            raise RuntimeError(f"No answer within {IDLE_LIMIT} s.")
        for key, _ in events:
            waiting += _go_on(key.data, requests, outcome, until=until)
    gc.enable()
    outcome.seconds = time.perf_counter() - started
    for key in list(selector.get_map().values()):
        key.data.socket.close()
    selector.close()
    return outcome


def _go_on(
    client: Client, requests: Iterator[bytes], outcome: Outcome, *, until: float
) -> int:
    """Change of the number of clients that wait for an answer."""
    answer = client.answer()
    if answer is None:
        return 0
    now = time.perf_counter()
    _record(outcome, answer, (now - client.sent_at) * 1000)
    return _send_next(client, requests, outcome) - 1 if now < until else -1


def _send_next(client: Client, requests: Iterator[bytes], outcome: Outcome) -> int:
    following = next(requests, None)
    if following is None:
        outcome.exhausted = True
        return 0
    client.send(following)
    return 1


def _record(outcome: Outcome, answer: bytes, latency: float) -> None:
    status = int(answer[STATUS])
    if status >= 300 or not outcome.sample:  # noqa: PLR2004
        outcome.sample = answer[-600:]
    outcome.statuses[status] += 1
    outcome.latencies_ms.append(latency)


def _complete(received: bytes, end: int) -> bool:
    head = received[:end].lower()
    at = head.find(LENGTH)
    if at < 0:
        return CHUNKED not in head or (
            len(received) > end + len(END_OF_HEAD) and received.endswith(LAST_CHUNK)
        )
    stop = head.find(b"\r", at)
    length = int(head[at + len(LENGTH) : stop if stop >= 0 else None])
    return len(received) >= end + len(END_OF_HEAD) + length
