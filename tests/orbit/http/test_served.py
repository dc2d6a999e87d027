"""What only a real server and a real connection can show."""

import http.client
import json
import os
import socket
import subprocess
import sys
from contextlib import closing
from urllib.parse import urlsplit

import pytest
from django.conf import settings
from django.db import connection

from orbit.http.exact_json import BODY_LIMIT

# One worker pays for what these tests share.
pytestmark = pytest.mark.xdist_group("http_served")

JSON = {"Content-Type": "application/json"}


def database_url():
    """The address of the suite's own database on the suite's server."""
    address = urlsplit(os.environ["DATABASE_URL"])
    return address._replace(path=f"/{connection.settings_dict['NAME']}").geturl()


@pytest.fixture(scope="module")
def port(django_db_setup, tmp_path_factory):  # noqa: ARG001 - the database must exist
    """A gunicorn with one thread; it inherits a socket that listens already."""
    output = tmp_path_factory.mktemp("served") / "log"
    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        with output.open("wb") as log:
            server = subprocess.Popen(
                [
                    *(sys.executable, "-m", "gunicorn", "--worker-class=gthread"),
                    *("--threads=1", f"--bind=fd://{listener.fileno()}"),
                    *("--no-control-socket", "tests.orbit.http.served:application"),
                ],
                env={
                    **os.environ,
                    "DATABASE_URL": database_url(),
                    "DJANGO_SETTINGS_MODULE": settings.SETTINGS_MODULE,
                },
                pass_fds=[listener.fileno()],
                stdout=log,
                stderr=log,
            )
        yield listener.getsockname()[1]
        server.terminate()
        server.wait(timeout=20)


def ask(port, path, body, headers=JSON, **options):
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=30)) as client:
        client.request("POST", path, body, headers, **options)
        response = client.getresponse()
        return response.status, json.loads(response.read())


def chunked(port, *chunks):
    headers = {**JSON, "Transfer-Encoding": "chunked"}
    return ask(port, "/v1/echo", iter(chunks), headers, encode_chunked=True)


def test_a_chunked_body_counts_like_any_other(port):
    status, body = chunked(port, b'{"payload":', b'"x"', b"}")
    assert status == 201
    assert body["data"] == {"payload": "x"}


def test_a_chunked_body_has_the_same_limit(port):
    start, end = b'{"payload":"', b'"}'
    filling = b"x" * (BODY_LIMIT - len(start) - len(end))
    assert chunked(port, start, filling, end)[0] == 201
    status, body = chunked(port, start, filling, b"x", end)
    assert status == 413
    assert body["error"]["code"] == "BODY_TOO_LARGE"


def test_an_empty_chunked_body_is_an_empty_body(port):
    assert chunked(port)[0] == 400


def test_a_declared_length_over_the_limit_is_refused_before_the_body_comes(port):
    head = (
        "POST /v1/echo HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json"
        f"\r\nContent-Length: {BODY_LIMIT + 1}\r\n\r\n"
    )
    with closing(socket.create_connection(("127.0.0.1", port), timeout=30)) as client:
        client.sendall(head.encode())
        assert client.recv(4096).startswith(b"HTTP/1.1 413 ")


def test_a_body_that_breaks_off_is_not_taken_for_a_whole_one(port):
    head = (
        "POST /v1/echo HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json"
        '\r\nContent-Length: 100\r\n\r\n{"payload":1}'
    )
    with closing(socket.create_connection(("127.0.0.1", port), timeout=30)) as client:
        client.sendall(head.encode())
        client.shutdown(socket.SHUT_WR)
        assert client.recv(4096).startswith(b"HTTP/1.1 400 ")


def backend(port):
    status, body = ask(port, "/v1/sql", b'"SELECT pg_backend_pid()"')
    assert status == 200
    return body["data"]


@pytest.mark.django_db
def test_a_connection_lost_between_requests_costs_none(port):
    first = backend(port)
    assert backend(port) == first
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s, 5000)", [first])
        assert cursor.fetchone() == (True,)
    status, _ = ask(port, "/v1/sql", b'"SELECT 1"')
    assert status == 200
    assert backend(port) != first


def test_a_connection_lost_inside_a_statement_is_503_and_then_replaced(port):
    status, body = ask(
        port, "/v1/sql", b'"SELECT pg_terminate_backend(pg_backend_pid())"'
    )
    assert status == 503
    assert "outcome may be committed" in body["error"]["message"]
    assert backend(port)


def test_a_transaction_left_broken_does_not_reach_the_next_request(port):
    for statement in ("BEGIN", "SELECT 1/0", "SELECT 1/0"):
        ask(port, "/v1/sql", json.dumps(statement))
    assert backend(port)
