"""Limits that change, deadlines that pass, and everybody at once."""

import pytest
from django.db import connection

from orbit.errors import Refusal
from tasks_app.actions.configure_queue import configure_queue
from tasks_app.actions.expire_tasks import expire_tasks
from tasks_app.actions.promote_tasks import promote_tasks
from tasks_app.domain.limits import QueueLimits
from tests.tasks_app.contested.arena import (
    Arena,
    held_after,
    held_before,
    waiting_for_a_lock,
)
from tests.tasks_app.contested.builders import (
    a_place,
    count_of,
    let_deadline_pass,
    reasons,
    success,
    the,
)
from tests.tasks_app.contested.invariants import assert_invariants

pytestmark = pytest.mark.django_db(transaction=True)

ROUNDS = 100


def configure(place, **limits):
    configure_queue(queue_id=place.queue_id, limits=QueueLimits(**limits))


def test_expire_and_claim_race_and_an_overdue_task_never_starts_late():
    place = a_place()
    with Arena(2) as arena:
        for task_id in place.waiting(ROUNDS):
            let_deadline_pass(task_id)
            expired, claimed = arena.race(
                lambda: expire_tasks(limit=10), lambda: place.claim(100)
            )
            assert expired == 1
            assert task_id not in {entry.task.id for entry in claimed}
            assert the(task_id, "state", "error_code") == (
                "FAILED",
                "DEADLINE_EXCEEDED",
            )
            assert_invariants(connection, these=[task_id])
            if claimed:
                place.report_all([success(entry) for entry in claimed])
                place.waiting(len(claimed))
                break
    assert_invariants(connection)


def test_task_whose_deadline_passes_while_it_is_claimed_is_not_expired_as_waiting():
    place = a_place()
    [task_id] = place.waiting()
    with held_after("FOR UPDATE SKIP LOCKED", place.claim) as claim:
        assert expire_tasks(limit=10) == 0
        [entry] = claim.go_on()
    assert entry.task.id == task_id
    assert expire_tasks(limit=10) == 0
    assert the(task_id, "state") == "RUNNING"
    assert_invariants(connection)


def test_promote_and_claim_and_cancel_race_for_a_task_that_comes_due():
    place = a_place()
    with Arena(3) as arena:
        for _ in range(ROUNDS // 2):
            [task_id] = place.waiting()
            with connection.cursor() as cursor:
                cursor.execute(
                    "UPDATE tasks_task SET is_due = false WHERE id = %s", [task_id]
                )
            _, claimed, cancelled = arena.race(
                lambda: promote_tasks(limit=10),
                place.claim,
                lambda i=task_id: place.cancel(i),
            )
            assert not isinstance(cancelled, Refusal)
            expected = "RUNNING" if claimed else "CANCELLED"
            assert the(task_id, "state") == expected
            assert_invariants(connection, these=[task_id])
    assert_invariants(connection)


def test_new_limit_and_claims_race_and_every_attempt_has_its_permit():
    place = a_place()
    with Arena(3) as arena:
        for number in range(ROUNDS):
            place.waiting(2, concurrency_key="account-1")
            limit = None if number % 2 else 1_000
            _, *claims = arena.race(
                lambda n=limit: configure(place, max_concurrency=n, key_concurrency=n),
                place.claim,
                place.claim,
            )
            held = [entry for claimed in claims for entry in claimed]
            assert_invariants(connection, these=[entry.task.id for entry in held])
            if len(held) == 2:
                place.report_all([success(entry) for entry in held])
    assert_invariants(connection)


def test_claim_that_read_the_limits_before_they_changed_starts_nothing():
    place = a_place()
    place.waiting(2)
    with connection.cursor() as cursor:
        cursor.execute("CREATE SCHEMA slow")
        # Between the look at the limits and the lock that keeps them, time passes.
        cursor.execute("""
            CREATE FUNCTION slow.pg_try_advisory_xact_lock_shared(bigint)
            RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN
                PERFORM pg_catalog.pg_advisory_xact_lock_shared(4711);
                RETURN pg_catalog.pg_try_advisory_xact_lock_shared($1);
            END $$""")
        cursor.execute("SELECT pg_advisory_lock(4711)")

    def claim():
        with connection.cursor() as cursor:
            cursor.execute("SET search_path = slow, pg_catalog, public")
        return place.claim(2)

    try:
        with waiting_for_a_lock(claim) as claiming:
            configure(place, max_concurrency=1)
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_advisory_unlock(4711)")
            assert claiming.go_on() == []
    finally:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_unlock_all()")
            cursor.execute("DROP SCHEMA slow CASCADE")
    assert len(place.claim(2)) == 1
    assert_invariants(connection)


def test_new_limit_and_reports_in_another_order_do_not_deadlock():
    place = a_place()
    first, second = place.waiting(), place.waiting(priority=5)
    [urgent], [other] = place.claim(), place.claim()
    assert [urgent.task.id, other.task.id] == [*second, *first]
    assert urgent.attempt_id < other.attempt_id

    with (
        held_before("moved AS", lambda: place.report(success(urgent))) as report,
        # The first attempt is held; whoever locks by attempt stands before it.
        waiting_for_a_lock(lambda: configure(place, max_concurrency=9)) as change,
        waiting_for_a_lock(
            lambda: place.report_all([success(urgent), success(other)])
        ) as batch,
    ):
        report.go_on()
        change.go_on()
        assert [it.state for it in batch.go_on()] == ["SUCCEEDED"] * 2
    assert_invariants(connection)


def test_new_limits_and_report_batches_race_without_a_deadlock():
    place = a_place()
    with Arena(3) as arena:
        for number in range(ROUNDS // 4):
            for priority in range(4):
                place.waiting(priority=priority)
            held = [place.claim()[0] for _ in range(4)]
            limit = None if number % 2 else 1_000
            _, forward, backward = arena.race(
                lambda n=limit: configure(place, max_concurrency=n),
                lambda h=held: place.report_all([success(it) for it in h]),
                lambda h=held: place.report_all([success(it) for it in h[::-1]]),
            )
            assert {it.state for it in forward + backward} == {"SUCCEEDED"}
    assert count_of("tasks_permit") == 0
    assert_invariants(connection)


def test_lowered_limit_is_not_passed_while_submissions_and_reports_go_on():
    place = a_place(max_outstanding=64)
    place.waiting(60)
    with Arena(4) as arena:
        for limit in [64, 8, 64, 16, 32] * 6:
            held = place.claim(3)
            answers = arena.race(
                lambda n=limit: configure(place, max_outstanding=n),
                lambda h=held: place.report_all([success(entry) for entry in h]),
                *[lambda: place.submit([place.submission()])[0]] * 2,
            )
            del answers
            assert_invariants(connection)
            outstanding = count_of("tasks_task", "state IN ('WAITING', 'RUNNING')")
            refused = reasons(place.submit([place.submission()])) == ["QUEUE_FULL"]
            assert refused == (outstanding >= limit)
    assert_invariants(connection)
