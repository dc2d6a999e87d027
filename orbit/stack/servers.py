"""The database and the Redis of a stack: embedded ones, or those it is told of."""

import os

import psycopg
import redis

from orbit.stack.failures import StackFailure
from orbit.stack.ports import free_port
from orbit.stack.postgres import embedded, wait_for_postgres
from orbit.stack.state import StateDirectory
from orbit.stack.supervisor import Child, Supervisor
from orbit.stack.valkey import Valkey, wait_for_redis

ROLE = "orbit"
OLDEST_POSTGRES = 150_000
OLDEST_REDIS = (6, 2)
PATIENCE = 30.0
PATIENCE_ELSEWHERE = 5.0  # a server that somebody else runs is up, or it is not


def database(supervisor: Supervisor, state: StateDirectory) -> tuple[str, Child | None]:
    """The URL of a database that answers, and the server if it is embedded."""
    given = os.environ.get("DATABASE_URL")
    if given:
        _check_postgres(given)
        return given, None
    postgres = embedded(state.path, password=state.secret("database_superuser"))
    postgres.clear_stale_lock()
    (child,) = supervisor.start(postgres.command())
    wait_for_postgres(
        postgres.superuser_url(), within=PATIENCE, exited=child.process.exit_code
    )
    # An ordinary role: the append-only triggers hold for the application itself.
    password = state.secret("database_role")
    postgres.provide(role=ROLE, password=password, database=ROLE)
    return postgres.url(user=ROLE, password=password, database=ROLE), child


def cache(supervisor: Supervisor, state: StateDirectory) -> tuple[str, Child | None]:
    """The URL of a Redis that answers, and the server if it is embedded."""
    given = os.environ.get("REDIS_URL")
    if given:
        _check_redis(given)
        return given, None
    valkey = Valkey(
        home=state.path / "valkey", password=state.secret("redis"), port=free_port()
    )
    (child,) = supervisor.start(valkey.command())
    wait_for_redis(valkey.url(), within=PATIENCE, exited=child.process.exit_code)
    return valkey.url(), child


def _check_postgres(url: str) -> None:
    try:
        wait_for_postgres(url, within=PATIENCE_ELSEWHERE)
        with psycopg.connect(url, connect_timeout=5) as connection:
            version = connection.info.server_version
    except (psycopg.Error, StackFailure) as error:
        raise StackFailure(f"DATABASE_URL: {error}") from error
    if version < OLDEST_POSTGRES:
        raise StackFailure(
            f"DATABASE_URL: this is PostgreSQL {version // 10_000}; Orbit needs 15."
        )


def _check_redis(url: str) -> None:
    try:
        wait_for_redis(url, within=PATIENCE_ELSEWHERE)
        with redis.Redis.from_url(url, socket_timeout=5) as client:
            version = str(client.info("server")["redis_version"])
    except (redis.RedisError, StackFailure, ValueError) as error:
        raise StackFailure(f"REDIS_URL: {error}") from error
    if tuple(int(part) for part in version.split(".")[:2]) < OLDEST_REDIS:
        raise StackFailure(f"REDIS_URL: this is Redis {version}; Orbit needs 6.2.")
