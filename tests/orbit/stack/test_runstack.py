"""`manage.py runstack` as a person uses it."""

import json
import os
import signal
import socket
import subprocess

import httpx
import psutil
import psycopg
import pytest

from orbit.stack.processes import python
from tests.live import CHECKOUT, LiveStack, environment, eventually, running

pytestmark = pytest.mark.xdist_group("live_stack")


def refused(*arguments, **variables):
    """What a runstack that cannot start says on standard error."""
    done = subprocess.run(
        python("manage.py", "runstack", *arguments),
        cwd=CHECKOUT,
        env=environment(**variables),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    return done.stderr


def is_ready(base_url):
    """Whether the web process and its database answer."""
    try:
        return httpx.get(f"{base_url}/readyz", timeout=20).status_code == 200
    except httpx.HTTPError:
        return False


def test_these_tests_share_one_worker(request):
    if "PYTEST_XDIST_WORKER" in os.environ:
        assert request.node.nodeid.endswith("@live_stack")


def test_a_taken_port_is_a_clear_error(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        said = refused("--port", str(port), "--state-dir", str(tmp_path))
    assert f"Port {port} of 127.0.0.1 is not free" in said
    assert "--port" in said


def test_a_database_that_does_not_answer_is_a_clear_error(tmp_path):
    said = refused(
        *("--port", "0", "--state-dir", str(tmp_path)),
        DATABASE_URL="postgresql://orbit@127.0.0.1:9/orbit",
    )
    assert said.startswith("runstack: DATABASE_URL: PostgreSQL does not answer:")


def test_a_redis_that_does_not_answer_is_a_clear_error(tmp_path, own_postgres):
    said = refused(
        *("--port", "0", "--state-dir", str(tmp_path)),
        DATABASE_URL=own_postgres.url("postgres"),
        REDIS_URL="redis://127.0.0.1:9/0",
    )
    assert said.startswith("runstack: REDIS_URL: Redis does not answer:")


def test_a_second_start_is_refused_while_the_first_goes_on(live_stack):
    said = refused("--port", "0", "--state-dir", str(live_stack.state_dir))
    assert "Another stack" in said
    assert is_ready(live_stack.base_url)


def test_a_ready_stack_describes_itself_to_its_owner_alone(live_stack):
    path = live_stack.state_dir / "stack.json"
    described = json.loads(path.read_text())
    assert path.stat().st_mode & 0o777 == 0o600
    assert {"web", "maintenance", "postgres", "redis"} <= described["processes"].keys()
    assert len(described["processes"]["workers"]) == 2
    assert {"submitter", "worker", "operator", "auditor"} <= live_stack.tokens.keys()
    pids = [pid for name, pid in described["processes"].items() if name != "workers"]
    assert all(psutil.pid_exists(pid) for pid in pids)


def test_the_ready_line_names_the_address_and_the_credentials(live_stack):
    (line,) = [
        line
        for line in live_stack.log.read_text().splitlines()
        if line.startswith("orbit       | ready: ")
    ]
    assert live_stack.base_url in line
    assert live_stack.described["admin"]["password"] in line
    assert all(token in line for token in live_stack.tokens.values())


def test_the_application_is_no_superuser_of_its_database(live_stack):
    with psycopg.connect(live_stack.described["database_url"]) as connection:
        query = "SELECT rolsuper OR rolcreatedb FROM pg_roles WHERE rolname = user"
        assert connection.execute(query).fetchone() == (False,)


@pytest.fixture(scope="module")
def one_stack():
    """A whole stack for these tests alone, begun once."""
    stack = LiveStack()
    try:
        yield stack.start()
    finally:
        stack.remove()


@pytest.fixture
def own_stack(one_stack):
    """It runs, whatever was done to it before; any of its processes may be killed."""
    if one_stack.popen.poll() is not None:
        one_stack.start()
    return one_stack


def test_killed_web_and_servers_come_back_at_the_same_addresses(own_stack):
    before = own_stack.described
    killed = ("web", "postgres", "redis", "maintenance")
    for name in killed:
        os.kill(before["processes"][name], signal.SIGKILL)

    eventually(
        lambda: all(
            own_stack.processes[name] != before["processes"][name] for name in killed
        )
    )
    eventually(lambda: is_ready(before["base_url"]))

    assert own_stack.described["base_url"] == before["base_url"]
    assert own_stack.described["redis_url"] == before["redis_url"]


def test_stopping_leaves_nothing_and_the_next_start_knows_the_same_tokens(own_stack):
    first, family = own_stack.described, own_stack.family()

    assert own_stack.stop() == 0
    assert not running(family)
    assert not (own_stack.state_dir / "stack.json").exists()
    own_stack.start()

    assert own_stack.described["demo"] == first["demo"]
    assert own_stack.described["admin"] == first["admin"]


def test_a_killed_supervisor_leaves_nothing(own_stack):
    family = own_stack.family()
    own_stack.popen.kill()
    own_stack.popen.wait()
    eventually(lambda: not running(family))


def test_servers_of_somebody_else_replace_the_embedded_ones(own_postgres, own_valkey):
    url = own_postgres.url("postgres")
    stack = LiveStack("--no-demo", DATABASE_URL=url, REDIS_URL=own_valkey.url())
    try:
        stack.start()
        assert stack.described["database_url"] == url
        assert {"postgres", "redis"}.isdisjoint(stack.processes)
        assert "demo" not in stack.described
        assert is_ready(stack.base_url)
    finally:
        stack.remove()
