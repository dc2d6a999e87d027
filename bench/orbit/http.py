"""Orbit over HTTP: prepared requests against its web processes."""

import json
import sys
import uuid
from collections.abc import Iterator

from bench import load
from bench.contest import Kind, Round
from bench.orbit.place import Place
from bench.orbit.project import PREPARED, environment
from bench.orbit.requests import retry_body, review_body, submission_body
from bench.processes import Children
from bench.servers import Servers
from bench.web import CONFIG, Web

EXPECTED = {1: 1500, 500: 12_000}  # tasks per second, by tasks a call
VERBS = {"review": "uncertain", "retry": "failed"}
REVISION = 3
ACCEPTED = (200, 201, 202)


class HttpAct:
    """One act over HTTP by closed-loop clients.

    `application` is Orbit's own, or a bare one that answers on the same paths.
    """

    def __init__(
        self,
        *,
        name: str,
        act: str,
        clients: int = 8,
        queues: int = 1,
        tasks_per_call: int = 1,
        kind: Kind = "orbit",
        application: str = "orbit.wsgi:application",
    ) -> None:
        self.name = name
        self.act = act
        self.clients = clients
        self.queues = queues
        self.tasks_per_call = tasks_per_call
        self.kind = kind
        self.application = application
        self.config = f"{CONFIG}, {clients} clients"
        self.children: Children | None = None
        self.web: Web | None = None
        self.requests: Iterator[bytes] = iter(())

    def setup(self, servers: Servers, *, seconds: float) -> None:
        """Start the web processes and prepare every request."""
        servers.flush()
        database, place = PREPARED.database(servers, name="http")
        variables = environment(database, servers)
        self.children = Children({**variables, "BENCH_PLACE": place.dump()})
        count = (
            int(EXPECTED[self.tasks_per_call] * (seconds + 2)) // self.tasks_per_call
        )
        self.requests = iter(self._prepare(place, count=count))
        database.execute("vacuum analyze")
        self.web = Web(application=self.application, children=self.children)
        self.web.wait(path="/livez")
        self._warm_up(self.web)
        servers.checkpoint()

    def run(self, *, seconds: float) -> Round:
        """Every call must succeed, or the round does not count."""
        assert self.web
        outcome = load.run(
            port=self.web.port,
            requests=self.requests,
            clients=self.clients,
            seconds=seconds,
        )
        outcome.require(*ACCEPTED)
        return Round(
            rate=outcome.rate * self.tasks_per_call,
            latencies_ms=outcome.latencies_ms,
            note="requests ran out" if outcome.exhausted else "",
        )

    def teardown(self) -> None:
        """Stop the web processes."""
        if self.children:
            self.children.stop()

    def _warm_up(self, web: Web) -> None:
        load.run(
            port=web.port, requests=self.requests, clients=self.clients, seconds=1
        ).require(*ACCEPTED)

    def _prepare(self, place: Place, *, count: int) -> list[bytes]:
        if self.act in VERBS:
            return self._recoveries(place, count=count)
        bodies = [
            submission_body(queue_id=queue_id)
            for queue_id in place.queue_ids[: self.queues]
        ]
        if self.tasks_per_call > 1:
            return [self._batch(place, bodies[0]) for _ in range(count)]
        return [
            _post(place, "/v1/tasks", bodies[number % len(bodies)])
            for number in range(count)
        ]

    def _batch(self, place: Place, body: dict[str, object]) -> bytes:
        tasks = [
            body | {"idempotency_key": uuid.uuid4().hex}
            for _ in range(self.tasks_per_call)
        ]
        return _post(place, "/v1/tasks:batch", {"tasks": tasks})

    def _recoveries(self, place: Place, *, count: int) -> list[bytes]:
        assert self.children
        printed = self.children.run(
            sys.executable, "-m", "bench.orbit.worker", VERBS[self.act], str(count)
        )
        make = review_body if self.act == "review" else retry_body
        body = make(revision=REVISION)
        return [
            _post(place, f"/v1/tasks/{task_id}:{self.act}", body)
            for task_id in printed.decode().split()
        ]


def _post(place: Place, path: str, body: dict[str, object]) -> bytes:
    return load.request(
        "POST",
        path,
        body=json.dumps(body, separators=(",", ":")).encode(),
        headers={
            "Authorization": f"Bearer {place.token}",
            "Idempotency-Key": uuid.uuid4().hex,
        },
    )
