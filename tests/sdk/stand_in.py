"""A small HTTP server that plays Orbit's worker protocol and can misbehave.

For what a real server cannot be made to do at a given moment: hang, break off, or
answer 503 to this call and not to that one.
"""

import datetime as dt
import json
import re
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tests.sdk.bodies import REQUEST_ID, task_text

PATH = re.compile(r"/v1/(queues|attempts)(?:/([0-9a-f]{32}))?:(\w+)")
UTC = dt.UTC


class Attempt:
    def __init__(self, number, lease_seconds):
        self.id = f"{number:032x}"
        self.expires_at = time.time() + lease_seconds
        self.seconds = lease_seconds
        self.heartbeats = 0
        self.cancel_requested = False
        self.reports = []
        self.final = None

    @property
    def is_over(self):
        return self.final is not None or time.time() > self.expires_at


class StandIn:
    """`tasks` are given out in order; `faults` maps a verb to a list of misdeeds.

    A misdeed is "hang", "break", or a (status, code) pair; one is used up by each
    call of that verb, the misdeed "always ..." by none.
    """

    def __init__(self):
        self.tasks = []
        self.attempts = {}
        self.faults = {}
        self.claims = []
        self.report_calls = 0
        self.released = threading.Event()
        self.changed = threading.Condition()
        self.longest_lease = None

    def add(self, **task):
        self.tasks.append(task)

    def attempt(self, number=1):
        return self.attempts[f"{number:032x}"]

    def until(self, condition, *, seconds=10):
        """Wait until the condition holds; it is looked at after every call."""
        with self.changed:
            assert self.changed.wait_for(condition, seconds), "It did not happen."

    def misdeed(self, verb):
        waiting = self.faults.get(verb, [])
        if not waiting:
            return None
        return waiting[0] if waiting[0] == "always hang" else waiting.pop(0)

    def claim(self, _id, body):
        self.claims.append(body)
        given: list[str] = []
        while self.tasks and len(given) < body["max_tasks"]:
            given.append(self._assign(self.tasks.pop(0), body["lease_ms"]))
        return 200, f'{{"assignments": [{", ".join(given)}]}}'

    def _assign(self, task, lease_ms):
        seconds = min(lease_ms / 1_000, self.longest_lease or lease_ms / 1_000)
        attempt = Attempt(len(self.attempts) + 1, seconds)
        self.attempts[attempt.id] = attempt
        now = dt.datetime.fromtimestamp(attempt.expires_at - seconds, UTC)
        # The database's clock may be anything: hours off must not matter.
        now += dt.timedelta(hours=5)
        text = task_text(
            updated_at=f'"{now.isoformat()}"',
            state='"RUNNING"',
            handler=f'"{task.get("handler", "h")}"',
            handler_version='"v1"',
            payload=task.get("payload", "{}"),
        )
        ends = now + dt.timedelta(seconds=seconds)
        return (
            f'{{"attempt_id": "{attempt.id}", "attempt_number": 1, '
            f'"lease_token": "t{attempt.id}", "lease_expires_at": '
            f'"{ends.isoformat()}", "task": {text}}}'
        )

    def heartbeat(self, attempt_id, body):
        attempt = self.attempts[attempt_id]
        assert body == {"lease_token": f"t{attempt_id}"}
        attempt.heartbeats += 1
        if attempt.is_over:
            return 409, self.conflict(attempt)
        attempt.expires_at = time.time() + attempt.seconds
        ends = dt.datetime.fromtimestamp(attempt.expires_at, UTC) + dt.timedelta(
            hours=5
        )
        asked = json.dumps(attempt.cancel_requested)
        return 200, (
            f'{{"lease_expires_at": "{ends.isoformat()}", "cancel_requested": {asked}}}'
        )

    def report(self, _id, body):
        self.report_calls += 1
        results = [self._settle(said) for said in body["reports"]]
        return 200, json.dumps({"results": results})

    def _settle(self, said):
        attempt = self.attempts[said["attempt_id"]]
        late = attempt.is_over
        attempt.reports.append({**said, "late": late})
        if late and attempt.final != said["kind"]:
            error = json.loads(self.conflict(attempt))
            return {"attempt_id": attempt.id, "status": 409, "error": error}
        refused = self.misdeed(said["kind"])
        if refused:
            status, code = refused
            error = {"code": code, "message": "Refused."}
            return {"attempt_id": attempt.id, "status": status, "error": error}
        attempt.final = said["kind"]
        task = {"id": "2" * 32, "state": "X", "revision": "3"}
        return {"attempt_id": attempt.id, "status": 200, "task": task}

    def conflict(self, attempt):
        state = "SUCCEEDED" if attempt.final else "NEEDS_REVIEW"
        return json.dumps(
            {
                "code": "STATE_CONFLICT",
                "message": "The lease is over.",
                "reason": "LEASE",
                "state": state,
                "revision": "3",
            }
        )


def _handler(stand_in):
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self):
            length = int(self.headers["Content-Length"])
            body = json.loads(self.rfile.read(length))
            asked = PATH.fullmatch(self.path)
            assert asked, self.path
            _, ident, verb = asked.groups()
            misdeed = stand_in.misdeed(verb)
            if misdeed in {"hang", "always hang"}:
                stand_in.released.wait()
            if misdeed in {"hang", "always hang", "break"}:
                self.close_connection = True
                return
            with stand_in.changed:
                if misdeed is None:
                    status, data = getattr(stand_in, verb)(ident, body)
                else:
                    status, code = misdeed
                    data = json.dumps({"code": code, "message": "Not now."})
                stand_in.changed.notify_all()
            self.answer(status, data)

        def answer(self, status, data):
            member = "data" if status == 200 else "error"
            text = f'{{"request_id": "{REQUEST_ID}", "{member}": {data}}}'.encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *_arguments):
            pass

    return Handler


@contextmanager
def stand_in_server():
    """A running stand-in and its base URL."""
    stand_in = StandIn()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(stand_in))
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield stand_in, f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        stand_in.released.set()
        server.shutdown()
        server.server_close()
        thread.join()
