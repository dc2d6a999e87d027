"""The embedded PostgreSQL in the directories that people have."""

import os
import secrets
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from orbit.stack.places import remove_home
from orbit.stack.postgres import FAST, embedded, wait_for_postgres
from orbit.stack.processes import Process
from tests.servers import SESSION


@contextmanager
def serving(state):
    """A PostgreSQL for this state directory, while the block lasts."""
    postgres = embedded(state, password=secrets.token_hex(8), settings=FAST)
    process = Process(
        postgres.command(), instance=SESSION.guarded(), output=subprocess.DEVNULL
    )
    try:
        wait_for_postgres(postgres.superuser_url(), within=90, exited=process.exit_code)
        yield postgres
    finally:
        process.stop()
        remove_home(state)


@pytest.fixture
def state():
    with tempfile.TemporaryDirectory(prefix="orbit-test-") as directory:
        yield Path(directory)


def test_the_applications_role_owns_its_database_and_nothing_more(state):
    with serving(state) as postgres:
        for _ in range(2):  # as at every start
            postgres.provide(role="orbit", password="p'w", database="orbit")
        url = postgres.url(user="orbit", password="p'w", database="orbit")
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("CREATE TABLE own (id int)")
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute("SET session_replication_role = replica")
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute("CREATE DATABASE more")


def test_a_wrong_password_is_refused(state):
    with serving(state) as postgres:
        url = postgres.url(user="postgres", password="guess", database="postgres")
        with pytest.raises(psycopg.OperationalError, match="password"):
            psycopg.connect(url)


def test_a_path_too_long_for_a_socket_is_served_on_the_loopback_address(state):
    long = state / ("x" * 100)
    long.mkdir()
    with serving(long) as postgres:
        assert postgres.port
        with psycopg.connect(postgres.superuser_url()) as connection:
            row = connection.execute("SHOW listen_addresses").fetchone()
        assert row == ("127.0.0.1",)


def test_on_a_socket_nothing_listens_on_the_network(state):
    with serving(state) as postgres:
        assert postgres.port is None
        with psycopg.connect(postgres.superuser_url()) as connection:
            assert connection.execute("SHOW listen_addresses").fetchone() == ("",)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root closes a directory to others")
def test_roots_closed_directory_keeps_a_link_to_where_the_data_is(state):
    closed = state / "closed"
    closed.mkdir(mode=0o700)
    (closed / "below").mkdir()
    with serving(closed / "below") as postgres:
        link = closed / "below" / "postgres"
        assert link.is_symlink()
        assert link.resolve() == postgres.home
        assert closed.stat().st_mode & 0o777 == 0o700
    assert not postgres.home.exists()


def test_a_first_start_that_was_killed_is_begun_anew(state):
    with serving(state) as postgres:
        pass
    half = postgres.home / "data.part"
    half.mkdir(parents=True)
    (half / "PG_VERSION").write_text("18\n")
    postgres.home.chmod(0o777)
    with serving(state) as postgres, psycopg.connect(postgres.superuser_url()):
        assert not half.exists()
