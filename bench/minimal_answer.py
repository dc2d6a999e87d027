"""The minimal DRF answer as a line of the table: what HTTP and DRF cost alone."""

import itertools

from bench import load
from bench.contest import Kind, Round
from bench.processes import Children
from bench.servers import Servers
from bench.web import CONFIG, Web


class MinimalAnswer:
    """One small object by a view without database, authentication or body."""

    name = "minimal DRF answer"
    kind: Kind = "bare"

    def __init__(self, *, clients: int) -> None:
        self.clients = clients
        self.config = f"{CONFIG}, {clients} clients; no database"
        self.children: Children | None = None
        self.web: Web | None = None

    def setup(self, servers: Servers, *, seconds: float) -> None:  # noqa: ARG002
        """Start the web processes."""
        self.children = Children({})
        self.web = Web(application="bench.minimal:application", children=self.children)
        self.web.wait(path="/")

    def run(self, *, seconds: float) -> Round:
        """Ask as fast as it answers."""
        assert self.web
        outcome = load.run(
            port=self.web.port,
            requests=itertools.repeat(load.request("GET", "/")),
            clients=self.clients,
            seconds=seconds,
        )
        outcome.require(200)
        return Round(rate=outcome.rate, latencies_ms=outcome.latencies_ms)

    def teardown(self) -> None:
        """Stop the web processes."""
        if self.children:
            self.children.stop()
