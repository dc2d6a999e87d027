"""Triggers of the open job API over HTTP: by new keys, and by keys known before."""

import itertools
import uuid

from bench import load
from bench.contest import Kind
from bench.orbit.http import ACCEPTED, HttpAct
from bench.orbit.place import Place
from bench.web import Web

KNOWN_KEYS = 64  # so many that two clients seldom wait for one key
LONG = 60.0


class Trigger(HttpAct):
    """One job, a new key with each call; tokens take turns, so that none is limited."""

    def __init__(
        self,
        *,
        name: str,
        clients: int = 8,
        kind: Kind = "orbit",
        application: str = "orbit.wsgi:application",
    ) -> None:
        super().__init__(
            name=name,
            act="trigger",
            clients=clients,
            kind=kind,
            application=application,
        )

    def _prepare(self, place: Place, *, count: int) -> list[bytes]:
        tokens = itertools.islice(itertools.cycle(place.job_tokens), count)
        return [
            load.request(
                "POST",
                f"/openapi/v1/jobs/{place.job_id}/executions",
                body=b"{}",
                headers={
                    "Authorization": f"Bearer {token}",
                    "Idempotency-Key": uuid.uuid4().hex,
                },
            )
            for token in tokens
        ]


class Replay(Trigger):
    """The same calls again and again: each key started its execution beforehand."""

    def _prepare(self, place: Place, *, count: int) -> list[bytes]:
        return super()._prepare(place, count=min(count, KNOWN_KEYS))

    def _warm_up(self, web: Web) -> None:
        known = list(self.requests)
        load.run(
            port=web.port, requests=iter(known), clients=self.clients, seconds=LONG
        ).require(*ACCEPTED)
        self.requests = itertools.cycle(known)
        super()._warm_up(web)
