"""Workers and maintenance that are killed, late, or under a wrong clock."""

import os
import signal
import time
from contextlib import ExitStack
from pathlib import Path

import psycopg
import pytest

from tests.faults.processes import at_once, maintenance, one_pass, worker
from tests.live import eventually
from tests.tasks_app.contested.invariants import assert_invariants

# One worker pays for what these tests share.
pytestmark = pytest.mark.xdist_group("hurt_workers")

LEASE_MS = 1_000


@pytest.fixture(autouse=True)
def database(hurt):
    """SQL on the database of the processes; the invariants hold at the end."""
    with psycopg.connect(hurt.url, autocommit=True) as connection:
        yield connection
        assert_invariants(connection)


@pytest.fixture
def desk(hurt):
    """A desk whose queue is empty."""
    for entry in hurt.desk.claim(max_tasks=100):
        hurt.desk.report(entry, "succeed", result=None)
    return hurt.desk


def state_of(desk, task_id):
    return desk.task(task_id)["state"]


def overtime(database, attempt):
    """How many seconds an attempt lasted beyond its lease, by the database's clock."""
    return database.execute(
        "SELECT extract(epoch FROM ended_at - lease_expires_at) FROM tasks_attempt"
        " WHERE id = %s::uuid",
        [attempt["id"]],
    ).fetchone()[0]


def started(log):
    return log.exists() and log.read_text().split()


def test_worker_killed_in_the_middle_asks_a_person_or_runs_again(
    hurt, desk, database, tmp_path
):
    careful = desk.submitted({"log": str(tmp_path / "a"), "hold": True})
    with (
        maintenance(hurt.url),
        worker(desk.client, hurt.seat, lease_ms=LEASE_MS) as one,
    ):
        eventually(lambda: started(tmp_path / "a"))
        os.kill(one.pid, signal.SIGKILL)
        eventually(lambda: state_of(desk, careful) == "NEEDS_REVIEW")
    [attempt] = desk.attempts(careful)
    assert attempt["outcome"] == "UNKNOWN"
    assert 0 < overtime(database, attempt) < 5
    task = desk.task(careful)
    assert (task["effect_uncertain"], task["error"]["code"]) == (True, "LEASE_LOST")

    safe = desk.submitted(
        {"log": str(tmp_path / "b"), "hold": True},
        recovery_safety="REPLAY_SAFE",
        retry={"max_attempts": 3},
    )
    with maintenance(hurt.url):
        with worker(desk.client, hurt.seat, lease_ms=LEASE_MS) as one:
            eventually(lambda: started(tmp_path / "b"))
            os.kill(one.pid, signal.SIGKILL)
        with worker(desk.client, hurt.seat, lease_ms=LEASE_MS):
            eventually(lambda: state_of(desk, safe) == "SUCCEEDED")
    assert started(tmp_path / "b") == ["1", "2"]


def test_task_that_kills_its_worker_each_time_does_not_loop(hurt, desk, tmp_path):
    log = tmp_path / "log"
    deadly = desk.submitted(
        {"log": str(log), "die": True},
        recovery_safety="REPLAY_SAFE",
        retry={"max_attempts": 3},
    )
    with maintenance(hurt.url):
        for number in range(1, 4):
            with worker(desk.client, hurt.seat, lease_ms=LEASE_MS) as victim:
                eventually(lambda one=victim: one.exit_code() is not None)
            assert len(started(log)) == number
        eventually(lambda: state_of(desk, deadly) == "NEEDS_REVIEW")
    assert desk.claim() == []
    assert [it["outcome"] for it in desk.attempts(deadly)] == ["UNKNOWN"] * 3


def test_permit_of_a_killed_worker_is_free_within_one_pass(hurt, desk, database):
    set_limit(database, hurt, "key_concurrency", 1)
    try:
        desk.submitted(concurrency_key="account-1")
        waiter = desk.submitted(concurrency_key="account-1")
        [lost] = desk.claim(lease_ms=LEASE_MS)
        assert desk.claim() == []
        with maintenance(hurt.url):
            [entry] = eventually(desk.claim)
        assert entry["task"]["id"] == waiter
        assert desk.report(lost, "succeed", result=1).status_code == 409
        assert desk.claim() == []
        assert desk.report(entry, "succeed", result=1).status_code == 200
    finally:
        set_limit(database, hurt, "key_concurrency", None)


def set_limit(database, hurt, name, value):
    database.execute(
        f"UPDATE tasks_queue SET {name} = %s WHERE id = %s::uuid",
        [value, hurt.seat["queue_id"]],
    )


def test_healthy_lease_is_never_reaped_however_long_it_runs(hurt, desk, database):
    desk.submitted(
        recovery_safety="REPLAY_SAFE",
        retry={"attempt_timeout_ms": 21_600_000, "max_attempts": 3},
        task_timeout_ms=86_400_000,
    )
    beats = iter(range(10_000))
    with maintenance(hurt.url), maintenance(hurt.url):
        [entry] = desk.claim(lease_ms=LEASE_MS)
        end = time.monotonic() + 3 * LEASE_MS / 1000
        while time.monotonic() < end:
            eventually(lambda: is_near_its_end(database, entry))
            assert desk.report(entry, "heartbeat").status_code == 200
            next(beats)
    assert next(beats) >= 2
    assert desk.report(entry, "succeed", result=1).status_code == 200
    assert len(desk.attempts(entry["task"]["id"])) == 1


def is_near_its_end(database, entry):
    """Whether less than half a second of the lease is left."""
    query = (
        "SELECT lease_expires_at < clock_timestamp() + interval '0.5 s'"
        " FROM tasks_attempt WHERE id = %s::uuid"
    )
    return database.execute(query, [entry["attempt_id"]]).fetchone()[0]


def test_starts_of_workers_and_maintenance_beside_young_leases_reap_none(
    hurt, desk, database
):
    for _ in range(20):
        desk.submitted()
    leased = desk.claim(max_tasks=20)
    database.execute(
        "UPDATE tasks_attempt SET started_at = started_at - interval '3 s',"
        " lease_expires_at = lease_expires_at - interval '3 s' WHERE outcome = 'ACTIVE'"
    )
    with ExitStack() as stack:
        passes = [stack.enter_context(one_pass(hurt.url)) for _ in range(3)]
        assert at_once([desk.claim] * 20) == [[]] * 20
        for process in passes:
            assert process.popen.wait(timeout=60) == 0
    assert [desk.report(it, "heartbeat").status_code for it in leased] == [200] * 20
    for entry in leased:
        assert desk.report(entry, "succeed", result=1).status_code == 200


def test_maintenance_killed_in_its_transaction_is_replaced_by_another(
    hurt, desk, database
):
    for _ in range(3):
        desk.submitted()
    leased = desk.claim(max_tasks=3, lease_ms=LEASE_MS)
    # Whoever moves these tasks waits for their shares, and keeps its locks meanwhile.
    with psycopg.connect(hurt.url) as holder:
        holder.execute("SELECT 1 FROM tasks_operation_audit LIMIT 1")
        holder.execute("LOCK TABLE tasks_operation_audit IN SHARE MODE")
        with maintenance(hurt.url) as first:
            eventually(lambda: reapers_that_wait(database) == 1)
            os.kill(first.pid, signal.SIGKILL)
            first.popen.wait()
        holder.rollback()
    with maintenance(hurt.url):
        for entry in leased:
            eventually(
                lambda it=entry: state_of(desk, it["task"]["id"]) == "NEEDS_REVIEW"
            )


def reapers_that_wait(database):
    """How many sessions wait for a lock in the middle of a move."""
    return database.execute(
        "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
        " AND query LIKE '%moved AS%' AND pid <> pg_backend_pid()"
    ).fetchone()[0]


@pytest.mark.parametrize("skew", [600, -600])
def test_wrong_clock_of_a_host_changes_no_lease(hurt, desk, skew):
    clock = str(Path(__file__).parent / "clock")
    environment = {"PYTHONPATH": clock, "ORBIT_TEST_CLOCK_SKEW": str(skew)}
    desk.submitted()
    [healthy] = desk.claim(lease_ms=300_000)
    doomed = desk.submitted()
    [_] = desk.claim(lease_ms=LEASE_MS)
    with maintenance(hurt.url, **environment):
        with worker(desk.client, hurt.seat, lease_ms=LEASE_MS, **environment):
            done = desk.submitted()
            eventually(lambda: state_of(desk, done) == "SUCCEEDED")
        eventually(lambda: state_of(desk, doomed) == "NEEDS_REVIEW")
    assert desk.report(healthy, "heartbeat").status_code == 200
    assert desk.report(healthy, "succeed", result=1).status_code == 200


def test_waiting_does_not_consume_the_lease(desk, database):
    task_id = desk.submitted()
    database.execute(
        "UPDATE tasks_task SET available_at = available_at - interval '2 h',"
        " due_at = due_at - interval '2 h', created_at = created_at - interval '2 h'"
        " WHERE id = %s::uuid",
        [task_id],
    )
    [entry] = desk.claim(lease_ms=5_000)
    left = database.execute(
        "SELECT extract(epoch FROM lease_expires_at - clock_timestamp())"
        " FROM tasks_attempt WHERE id = %s::uuid",
        [entry["attempt_id"]],
    ).fetchone()[0]
    assert 3 < left <= 5
    assert desk.report(entry, "succeed", result=1).status_code == 200


def test_claims_of_twenty_workers_at_once_lease_each_task_once(desk):
    task_ids = {desk.submitted() for _ in range(30)}
    answers = at_once([lambda: desk.claim(max_tasks=3)] * 20)
    found = [entry for claimed in answers for entry in claimed]
    assert len({entry["task"]["id"] for entry in found}) == len(found)
    found += desk.claim(max_tasks=100)
    assert {entry["task"]["id"] for entry in found} == task_ids
    for entry in found:
        assert desk.report(entry, "succeed", result=1).status_code == 200
