"""The environment in which Orbit's processes run during a benchmark."""

import json
import secrets
import sys

from bench.orbit.place import Place
from bench.processes import Children
from bench.servers import Database, Servers

BASE = "orbit_base"
SECRETS = {
    "ORBIT_SECRET_KEY": secrets.token_hex(32),
    "ORBIT_TOKEN_PEPPERS": f"p1:{secrets.token_hex(32)}",
}


def environment(database: Database, servers: Servers) -> dict[str, str]:
    """What a process of Orbit reads."""
    return {
        **SECRETS,
        "DJANGO_SETTINGS_MODULE": "bench.orbit.settings",
        "DATABASE_URL": database.url,
        "REDIS_URL": servers.redis_url(),
        "ORBIT_LOG_LEVEL": "WARNING",
    }


class Prepared:
    """Migrates once for each run; every round copies the result."""

    def __init__(self) -> None:
        self.places: dict[Servers, Place] = {}

    def database(self, servers: Servers, *, name: str) -> tuple[Database, Place]:
        """A fresh copy of the prepared database."""
        if servers not in self.places:
            base = servers.database(BASE)
            children = Children(environment(base, servers))
            printed = children.run(sys.executable, "-m", "bench.orbit.prepare")
            self.places[servers] = Place(**json.loads(printed.splitlines()[-1]))
        return servers.database(name, template=BASE), self.places[servers]


PREPARED = Prepared()
