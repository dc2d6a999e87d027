"""PostgreSQL that is killed, read-only, locked or cut off in the middle of a call."""

import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import psycopg
import pytest

from tests.faults.calls import Desk, a_key
from tests.faults.cut import Cut
from tests.faults.processes import maintenance, web
from tests.live import eventually
from tests.tasks_app.contested.invariants import assert_invariants

# One worker pays for what these tests share.
pytestmark = pytest.mark.xdist_group("hurt")


def sql(hurt, query, *parameters):
    """The rows of one statement on a connection of its own."""
    with psycopg.connect(hurt.url, autocommit=True) as connection:
        cursor = connection.execute(query, parameters or None)
        return cursor.fetchall() if cursor.description else []


def check(hurt):
    with psycopg.connect(hurt.url, autocommit=True) as connection:
        assert_invariants(connection)


def drained(desk):
    """The desk, its queue empty."""
    recovered(desk)
    for entry in desk.claim(max_tasks=100):
        desk.report(entry, "succeed", result=1)
    return desk


def recovered(desk):
    """Wait until the web process is on the database again."""
    eventually(lambda: desk.read("submitter", "/v1/tasks").status_code == 200)


def timed(act):
    """What the act answered, and in how many seconds."""
    begun = time.monotonic()
    answer = act()
    return answer, time.monotonic() - begun


def is_unavailable(response):
    """Whether it is the answer of a database that is away."""
    assert response.status_code == 503, response.text
    assert response.headers["content-type"] == "application/json"
    assert int(response.headers["Retry-After"]) >= 1
    error = response.json()["error"]
    assert len(response.json()["request_id"]) == 32
    return error["code"] == "UNAVAILABLE"


def test_database_killed_and_started_again_answers_503_and_recovers(hurt):
    desk = drained(hurt.desk)
    task_id, waiting = desk.in_review(), desk.submitted()
    entry = desk.claimed(waiting)
    key = a_key()
    before = sql(hurt, "SELECT count(*) FROM tasks_operation_audit")
    hurt.server.kill()
    calls = [
        lambda: desk.submit(key=key),
        lambda: desk.read("submitter", f"/v1/tasks/{task_id}"),
        lambda: desk.read("submitter", "/v1/tasks"),
        lambda: desk.read("auditor", f"/v1/tasks/{task_id}/operations"),
        lambda: desk.read("submitter", "/v1/events"),
        lambda: desk.review(task_id, key=key),
        lambda: desk.retry(task_id, key=key),
        lambda: desk.report(entry, "heartbeat"),
        lambda: desk.report(entry, "succeed", result=1),
        lambda: desk.write("submitter", f"/v1/tasks/{task_id}:cancel", {}, key),
    ]
    for call in calls:
        response, seconds = timed(call)
        assert is_unavailable(response)
        assert seconds < 5
    hurt.server.start()
    recovered(desk)
    assert sql(hurt, "SELECT count(*) FROM tasks_operation_audit") == before
    assert eventually_done(lambda: desk.submit(key=key)).status_code == 201
    assert eventually_done(lambda: desk.review(task_id, key=key)).status_code == 200
    assert desk.report(entry, "succeed", result=1).status_code == 200
    check(hurt)


def eventually_done(call):
    """The first response that is not 503."""
    responses = []

    def is_done():
        responses.append(call())
        return responses[-1].status_code != 503

    eventually(is_done)
    return responses[-1]


def test_no_call_pays_for_a_database_that_restarted_while_all_were_idle(hurt):
    desk = drained(hurt.desk)
    task_id = desk.submitted()
    with ThreadPoolExecutor(16) as pool:
        list(pool.map(desk.task, [task_id] * 64))
        hurt.server.kill()
        hurt.server.start()
        after = list(pool.map(lambda _: desk.submit().status_code, range(64)))
    assert set(after) == {201}


def test_database_killed_while_leases_are_reaped_loses_none(hurt):
    desk = drained(hurt.desk)
    for _ in range(250):
        desk.submitted()
    leased = [entry for _ in range(3) for entry in desk.claim(max_tasks=100)]
    assert len(leased) == 250
    with maintenance(hurt.url) as process:
        with suppress(psycopg.OperationalError), psycopg.connect(hurt.url) as holder:
            holder.execute("LOCK TABLE tasks_operation_audit IN SHARE MODE")
            sql(
                hurt,
                "UPDATE tasks_attempt SET lease_expires_at = clock_timestamp()"
                " WHERE outcome = 'ACTIVE'",
            )
            eventually(lambda: moves_that_wait(hurt))
            hurt.server.kill()
        hurt.server.start()
        eventually(lambda: not sql(hurt, LEFT_BEHIND)[0][0])
        assert process.exit_code() is None
    [[reviewed]] = sql(
        hurt,
        "SELECT count(*) FROM tasks_task WHERE state = 'NEEDS_REVIEW'"
        " AND error_code = 'LEASE_LOST' AND id = ANY(%s::uuid[])",
        [entry["task"]["id"] for entry in leased],
    )
    assert reviewed == 250
    check(hurt)


LEFT_BEHIND = """
SELECT count(*) FROM tasks_task t WHERE t.state = 'RUNNING' AND NOT EXISTS (
    SELECT FROM tasks_attempt a
    WHERE a.task_id = t.id AND a.lease_expires_at > clock_timestamp())
"""


def moves_that_wait(hurt):
    return sql(
        hurt,
        "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
        " AND query LIKE '%moved AS%' AND pid <> pg_backend_pid()",
    )


def test_read_only_database_refuses_writes_and_goes_on_reading(hurt):
    desk = drained(hurt.desk)
    task_id, key = desk.in_review(), a_key()
    read_only(hurt, "on")
    try:
        for call in (
            desk.submit,
            lambda: desk.review(task_id, key=key),
            lambda: desk.write("submitter", f"/v1/tasks/{task_id}:cancel", {}),
        ):
            assert is_unavailable(call())
        for path in (f"/v1/tasks/{task_id}", "/v1/tasks", "/v1/events"):
            assert desk.read("submitter", path).status_code == 200
        operations = desk.read("auditor", f"/v1/tasks/{task_id}/operations")
        assert operations.status_code == 200
    finally:
        read_only(hurt, "off")
    assert eventually_done(lambda: desk.review(task_id, key=key)).status_code == 200
    check(hurt)


def read_only(hurt, value):
    """Let every session, those that are open too, be so."""
    with psycopg.connect(hurt.url, autocommit=True) as connection:
        connection.execute("SET default_transaction_read_only = off")
        connection.execute(f"ALTER SYSTEM SET default_transaction_read_only = {value}")
        connection.execute("SELECT pg_reload_conf()")

    def is_so():
        return sql(hurt, "SHOW default_transaction_read_only") == [(value,)]

    eventually(is_so)


def test_task_locked_by_another_session_is_waited_for_briefly(hurt):
    desk = drained(hurt.desk)
    task_id, key = desk.in_review(), a_key()
    with psycopg.connect(hurt.url) as holder:
        holder.execute(
            "SELECT 1 FROM tasks_task WHERE id = %s::uuid FOR UPDATE", [task_id]
        )
        response, seconds = timed(lambda: desk.review(task_id, key=key))
        assert is_unavailable(response)
        assert 2 < seconds < 6
        assert desk.read("submitter", f"/v1/tasks/{task_id}").status_code == 200
    response = desk.review(task_id, key=key)
    assert response.status_code == 200
    assert response.json()["data"]["deduplicated"] is False
    check(hurt)


@pytest.mark.parametrize("is_delivered", [False, True], ids=["lost", "delivered"])
def test_connection_cut_at_commit_is_settled_by_the_same_key(hurt, is_delivered):
    drained(hurt.desk)
    with Cut(hurt.server) as cut, web(cut.url) as client:
        desk = Desk(client, hurt.seat)
        submit_key, review_key, retry_key = a_key(), a_key(), a_key()
        in_review, failed = desk.in_review(), desk.failed()
        for write, first in (
            (lambda: desk.submit(key=submit_key), 201),
            (lambda: desk.review(in_review, key=review_key), 200),
            (lambda: desk.retry(failed, key=retry_key), 201),
        ):
            cut.at_commit(is_delivered=is_delivered)
            assert is_unavailable(write())
            assert cut.has_struck
            again = eventually_done(write)
            assert again.status_code == (200 if is_delivered else first)
            data = again.json()["data"]
            assert data["deduplicated"] == is_delivered
            assert write().json()["data"] == {**data, "deduplicated": True}
    check(hurt)
