"""The servers of the suite do what its fault tests lean on."""

import psycopg
import pytest
import redis


def test_a_killed_postgres_comes_back_with_what_was_committed(own_postgres):
    with psycopg.connect(own_postgres.url("postgres"), autocommit=True) as connection:
        connection.execute("CREATE TABLE kept (id int)")

    own_postgres.kill()
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(own_postgres.url("postgres"))
    own_postgres.start()

    with psycopg.connect(own_postgres.url("postgres")) as connection:
        assert connection.execute("SELECT count(*) FROM kept").fetchone() == (0,)


def test_a_killed_valkey_comes_back_at_the_same_address(own_valkey):
    own_valkey.kill()
    with (
        redis.Redis.from_url(own_valkey.url()) as client,
        pytest.raises(redis.ConnectionError),
    ):
        client.ping()
    own_valkey.start()

    with redis.Redis.from_url(own_valkey.url()) as client:
        assert client.config_get("maxmemory-policy") == {
            "maxmemory-policy": "noeviction"
        }
