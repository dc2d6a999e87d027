"""Redis broken in every way: triggers fail closed and fast, reads go on."""

import socket
import socketserver
import threading
import time
from contextlib import contextmanager

import pytest
from redis import Redis

from openapi_app.api import executions
from openapi_app.gateways.redis import check_eviction_policy, outage
from orbit.stack.ports import free_port
from tests.openapi_app.api.builders import Caller, a_place, rows
from tests.servers import SESSION, ValkeyServer

# One worker pays for what these tests share.
pytestmark = pytest.mark.xdist_group("open_api_redis")

LIMIT_SECONDS = 2


@pytest.fixture(scope="module")
def valkey():
    """A Valkey that these tests break, and mend again."""
    server = ValkeyServer()
    yield server
    SESSION.servers.remove(server)
    server.remove()


@pytest.fixture
def place(transactional_db, valkey, settings):  # noqa: ARG001 - rows are for all
    """A place whose open API counts and locks in that Valkey."""
    settings.REDIS_URL = valkey.url()
    with connected(valkey) as client:
        client.flushall()
    return a_place()


@contextmanager
def connected(valkey):
    with Redis.from_url(valkey.url()) as client:
        yield client


@contextmanager
def refused(valkey):
    valkey.stop()
    yield
    valkey.start()


@contextmanager
def killed(valkey):
    valkey.kill()
    yield
    valkey.start()


@contextmanager
def frozen(valkey):
    valkey.freeze()
    yield
    valkey.thaw()


@contextmanager
def read_only(valkey):
    with connected(valkey) as client:
        client.execute_command("REPLICAOF", "127.0.0.1", str(free_port()))
        client.config_set("replica-serve-stale-data", "yes")
        yield
        client.execute_command("REPLICAOF", "NO", "ONE")


@contextmanager
def full(valkey):
    with connected(valkey) as client:
        client.config_set("maxmemory", "1")
        yield
        client.config_set("maxmemory", "0")


FAULTS = [refused, killed, frozen, read_only, full]


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("is_connected", [True, False])
def test_a_trigger_fails_closed_and_the_next_one_works(
    place, valkey, fault, is_connected
):
    job = place.job()
    caller = place.caller(job)
    before = 0
    if is_connected:
        assert caller.trigger(job, "before-the-fault").status == 202
        before = 1

    with fault(valkey):
        started = time.monotonic()
        answer = caller.trigger(job)
        took = time.monotonic() - started
        reads = [caller.get(it) for it in ("/jobs", "/token", f"/jobs/{job.id.hex}")]

    assert (answer.status, answer.message) == (503, "trigger_unavailable")
    assert answer.execution_started is False
    assert answer.body["retry"] == {"safe": True, "same_key": True, "after_seconds": 1}
    assert answer.headers["Retry-After"] == "1"
    assert took < LIMIT_SECONDS
    assert [read.status for read in reads] == [200] * 3
    assert rows() == (before,) * 3

    # No restart, and the very same call: whatever a frozen server did on waking.
    again = caller.trigger(job)
    assert (again.status, again.is_replay) == (202, False)
    assert rows() == (before + 1,) * 3


@pytest.mark.parametrize("fault", [refused, frozen])
def test_a_replay_fails_closed_too(place, valkey, fault):
    job = place.job()
    caller = place.caller(job)
    first = caller.trigger(job)

    with fault(valkey):
        assert caller.trigger(job).message == "trigger_unavailable"

    assert caller.trigger(job).id == first.id


@pytest.mark.parametrize("fault", [refused, frozen])
def test_a_fault_after_the_commit_is_no_fault_of_the_run(
    place, valkey, monkeypatch, fault
):
    job = place.job()
    caller = place.caller(job)
    trigger_job = executions.trigger_job
    broken = fault(valkey)

    def break_after(trigger):
        triggered = trigger_job(trigger)
        broken.__enter__()
        return triggered

    monkeypatch.setattr(executions, "trigger_job", break_after)
    answer = caller.trigger(job)
    broken.__exit__(None, None, None)
    monkeypatch.setattr(executions, "trigger_job", trigger_job)

    assert (answer.status, answer.is_replay) == (202, False)
    assert caller.trigger(job).id == answer.id
    assert rows() == (1, 1, 1)


class Loading(socketserver.StreamRequestHandler):
    """Answers every command as a server does that still reads its file."""

    def handle(self):
        while line := self.rfile.readline():
            if line.startswith(b"*"):
                for _ in range(2 * int(line[1:])):
                    self.rfile.readline()
                self.wfile.write(
                    b"-LOADING Valkey is loading the dataset in memory\r\n"
                )


@contextmanager
def listening(handler):
    server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"redis://127.0.0.1:{server.server_address[1]}/0"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_a_loading_server_is_a_broken_one(place, settings):
    job = place.job()
    caller = place.caller(job)
    with listening(Loading) as url:
        settings.REDIS_URL = url

        answer = caller.trigger(job)

    assert (answer.status, answer.message) == (503, "trigger_unavailable")
    assert rows() == (0, 0, 0)


def test_a_port_that_accepts_and_never_answers_is_a_broken_one(place, settings):
    job = place.job()
    caller = place.caller(job)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        settings.REDIS_URL = f"redis://127.0.0.1:{silent.getsockname()[1]}/0"
        started = time.monotonic()

        answer = caller.trigger(job)
        read = caller.get("/jobs")

        assert time.monotonic() - started < LIMIT_SECONDS
    assert (answer.message, read.status) == ("trigger_unavailable", 200)


def test_without_redis_at_all_reads_go_on(place, settings):
    settings.REDIS_URL = ""
    job = place.job()
    caller = place.caller(job)

    assert caller.trigger(job).message == "trigger_unavailable"
    assert caller.get("/jobs").status == 200
    assert [it.id for it in check_eviction_policy(None)] == ["openapi_app.W001"]


def test_a_broken_redis_is_asked_once_a_second_by_those_who_can_do_without(
    place, valkey
):
    caller = place.caller()
    with frozen(valkey):
        caller.get("/token")
        started = time.monotonic()
        shown = caller.get("/token")
        took = time.monotonic() - started

    assert took < 0.4 or not outage.is_fresh()
    assert shown.data["quota"]["reads"]["remaining"] is None


def test_failed_authentications_are_told_without_redis(place, valkey):
    assert place
    with frozen(valkey):
        answer = Caller("no token").get("/token")

    assert (answer.status, answer.message) == (401, "invalid_token")


@pytest.mark.parametrize(
    ("policy", "found"),
    [("noeviction", []), ("allkeys-lru", ["openapi_app.W002"])],
)
def test_an_eviction_policy_that_drops_locks_is_flagged(place, valkey, policy, found):
    assert place
    with connected(valkey) as client:
        client.config_set("maxmemory-policy", policy)
        assert [it.id for it in check_eviction_policy(None)] == found
        client.config_set("maxmemory-policy", "noeviction")
