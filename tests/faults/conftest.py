"""A web process on the suite's own database, and one on a database to hurt."""

import json
import os
from io import StringIO
from urllib.parse import urlsplit

import pytest
from django.core.management import call_command
from django.db import connection

from tests.faults.calls import Desk
from tests.faults.processes import prepare, web
from tests.servers import SESSION, PostgresServer


@pytest.fixture
def database_url(transactional_db):  # noqa: ARG001 - the database must be there
    """The address of this worker's test database."""
    name = connection.settings_dict["NAME"]
    return urlsplit(os.environ["DATABASE_URL"])._replace(path=f"/{name}").geturl()


def a_seat():
    """A queue with all its tokens in the test database."""
    answer = StringIO()
    call_command("init_dev", recovery_access=True, json=True, stdout=answer)
    return json.loads(answer.getvalue())


@pytest.fixture
def desk(database_url):
    """Every token of a queue, at a web process on the test database."""
    seat = a_seat()
    with web(database_url) as client:
        yield Desk(client, seat)


class Hurt:
    """A PostgreSQL to hurt, with a web process on it."""

    def __init__(self, server, seat, client):
        self.server = server
        self.desk = Desk(client, seat)
        self.seat = seat
        self.url = server.url()


@pytest.fixture(scope="module")
def hurt():
    """A private PostgreSQL and a web process on it, shared by a module's tests."""
    server = PostgresServer()
    try:
        seat = prepare(server.url())
        with web(server.url()) as client:
            yield Hurt(server, seat, client)
    finally:
        SESSION.servers.remove(server)
        server.remove()
