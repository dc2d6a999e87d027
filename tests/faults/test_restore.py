"""A dump, restored as docs/operations.md says, goes on where the old database was."""

import re
import subprocess
from pathlib import Path

import psycopg
import pytest

from tests.faults.calls import Desk
from tests.faults.processes import web

OPERATIONS = Path(__file__).resolve().parents[2] / "docs" / "operations.md"
EVERYTHING = "/v1/events?limit=500"


def statement_with(words):
    """The SQL of the page that has these words."""
    blocks = re.findall(r"```sql\n(.*?)```", OPERATIONS.read_text(), re.DOTALL)
    (found,) = [block for block in blocks if words in block]
    return found


def asked(url, sql):
    """All rows that the statement answers."""
    with psycopg.connect(url, autocommit=True) as connection:
        return connection.execute(sql).fetchall()


def spend_transaction_ids(url, count):
    """Let a database be as if it had been at work for a while."""
    with psycopg.connect(url, autocommit=True) as connection:
        for _ in range(count):
            connection.execute("SELECT pg_current_xact_id()")


def carry_over(source, target):
    """What pg_dump finds in one database becomes another server's."""
    programs = target.postgres.programs
    with psycopg.connect(target.url("postgres"), autocommit=True) as connection:
        connection.execute("CREATE DATABASE orbit")
    dump = subprocess.run(
        [str(programs / "pg_dump"), "-Fc", source], capture_output=True, check=True
    )
    subprocess.run(
        [str(programs / "pg_restore"), "--exit-on-error", "-d", target.url()],
        input=dump.stdout,
        capture_output=True,
        check=True,
    )


def begin_a_new_epoch(server):
    """Steps 2 to 4 of the page."""
    [(epoch,)] = asked(server.url(), statement_with("AS epoch"))
    server.stop()
    data = str(server.postgres.data)
    server.postgres._run("pg_resetwal", f"--epoch={epoch + 1}", "-D", data)
    server.start()


def is_behind(url):
    """Whether new events would get positions below those that are there."""
    [(behind,)] = asked(
        url,
        "SELECT pg_current_xact_id()::text::bigint < max(transaction_id)"
        " FROM outbox_result_event",
    )
    return behind


def test_a_restored_dump_goes_on_where_the_old_database_was(hurt, own_postgres):
    desk = hurt.desk
    waiting, uncertain, settled = desk.submitted(), desk.in_review(), desk.in_review()
    review = {"task_id": settled, "key": "reviewed-before-the-dump"}
    receipt = desk.review(**review).json()["data"]
    spend_transaction_ids(hurt.url, 5_000)
    desk.submitted()
    known = desk.read("submitter", EVERYTHING).json()["data"]

    carry_over(hurt.url, own_postgres)
    assert is_behind(own_postgres.url()), "else there is nothing to put right"
    begin_a_new_epoch(own_postgres)

    assert not is_behind(own_postgres.url())
    assert asked(own_postgres.url(), statement_with("tasks_quota_share")) == []
    with web(own_postgres.url()) as client:
        restored = Desk(client, hurt.seat)
        for task_id in (waiting, uncertain, settled):
            assert restored.task(task_id) == desk.task(task_id)
            path = f"/v1/tasks/{task_id}/operations"
            old, new = desk.read("operator", path), restored.read("operator", path)
            assert new.json()["data"] == old.json()["data"]
        again = restored.review(**review).json()["data"]
        assert again == {**receipt, "deduplicated": True}

        events = restored.read("submitter", EVERYTHING).json()["data"]
        assert events["items"] == known["items"]
        fresh = restored.submitted()
        path = f"/v1/events?cursor={known['next_cursor']}"
        later = restored.read("submitter", path).json()["data"]["items"]
        assert [item["body"]["task_id"] for item in later] == [fresh]
    with pytest.raises(psycopg.errors.IntegrityConstraintViolation):
        asked(own_postgres.url(), "DELETE FROM tasks_operation_audit RETURNING id")
