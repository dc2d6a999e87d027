"""A connection that breaks between any two statements of a write (F30)."""

import psycopg
import pytest
from django.db import Error, connection

from tasks_app.actions.expire_tasks import expire_tasks
from tasks_app.actions.reap_leases import reap_leases
from tests.tasks_app.contested.builders import (
    a_place,
    let_deadline_pass,
    let_lease_run_out,
    success,
)
from tests.tasks_app.contested.invariants import assert_invariants

pytestmark = pytest.mark.django_db(transaction=True)

TABLES = (
    "tasks_task",
    "tasks_attempt",
    "tasks_permit",
    "tasks_receipt",
    "tasks_evidence",
    "tasks_operation_audit",
    "tasks_quota_share",
    "outbox_result_event",
)
STATEMENTS = 12


class Breaking:
    """Kills the session's own backend before its nth statement, or after it."""

    def __init__(self, number, *, is_after):
        self.left = number
        self.is_after = is_after
        self.has_struck = False

    def __call__(self, execute, sql, params, many, context):
        """Django's execute wrapper."""
        self.left -= 1
        if self.left:
            return execute(sql, params, many, context)
        answer = execute(sql, params, many, context) if self.is_after else None
        self.has_struck = True
        kill_backend_of(connection)
        return answer if self.is_after else execute(sql, params, many, context)


def kill_backend_of(victim):
    """End the server process that serves this connection, and wait until it is gone."""
    pid = victim.connection.info.backend_pid
    with another_session() as other:
        other.execute("SELECT pg_terminate_backend(%s, 5000)", [pid])


def another_session():
    """A connection of the driver's own to the test database."""
    parameters = connection.get_connection_params()
    for name in ("cursor_factory", "context", "prepare_threshold"):
        parameters.pop(name, None)
    return psycopg.connect(**parameters, autocommit=True)


def everything():
    """All rows of the engine, to be compared."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT "
            + ", ".join(
                f"(SELECT md5(coalesce(string_agg(r::text, ',' ORDER BY r::text), ''))"
                f" FROM {table} r)"
                for table in TABLES
            )
        )
        return cursor.fetchone()


def a_submit(place):
    return lambda: place.submit([place.submission(key="key")])[0]


def a_submit_of_many(place):
    return lambda: place.submit(
        [place.submission(key=f"key-{number}") for number in range(5)]
    )[0]


def a_patient_submit(place):
    # No one share has so many units: the second, patient way is taken.
    return lambda: place.submit(
        [place.submission(key=f"key-{number}") for number in range(9)]
    )[0]


def a_report(place):
    [entry] = place.running(concurrency_key="account-1")
    return lambda: place.report(success(entry))


def a_late_report(place):
    [entry] = place.running()
    let_lease_run_out(entry)
    reap_leases(limit=10)
    return lambda: place.report(success(entry))


def a_review(place):
    [task_id] = place.in_review()
    return lambda: place.review(task_id, key="key")


def a_retry(place):
    [task_id] = place.failed()
    return lambda: place.retry(task_id, key="key")


def a_cancel_of_what_waits(place):
    [task_id] = place.waiting()
    return lambda: place.cancel(task_id, key="key")


def a_cancel_of_what_runs(place):
    [entry] = place.running()
    return lambda: place.cancel(entry.task.id, key="key")


def a_claim(place):
    place.waiting(2, concurrency_key="account-1")
    return lambda: place.claim(2)


def a_reaping(place):
    let_lease_run_out(*place.running(3))
    return lambda: reap_leases(limit=10)


def an_expiry(place):
    let_deadline_pass(*place.waiting(3))
    return lambda: expire_tasks(limit=10)


ACTS = [
    a_submit,
    a_submit_of_many,
    a_patient_submit,
    a_report,
    a_late_report,
    a_review,
    a_retry,
    a_cancel_of_what_waits,
    a_cancel_of_what_runs,
    a_claim,
    a_reaping,
    an_expiry,
]


@pytest.mark.parametrize("is_after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("prepare", ACTS)
def test_broken_connection_at_any_statement_leaves_nothing(prepare, is_after):
    for number in range(1, STATEMENTS):
        act = prepare(
            a_place(max_outstanding=100, max_concurrency=10, key_concurrency=10)
        )
        before = everything()
        breaking = Breaking(number, is_after=is_after)
        is_done = survived(act, breaking)
        # A submission that must begin again, patiently, does so on a new connection.
        assert (everything() != before) == is_done
        assert_invariants(connection)
        if not breaking.has_struck:
            break
    else:
        pytest.fail("The act has more statements than were tried.")
    assert (is_done, number > 1) == (True, True)


def survived(act, breaking):
    """Whether the act came to its end; the connection is whole again afterwards."""
    try:
        with connection.execute_wrapper(breaking):
            act()
    except Error:
        connection.close()
        return False
    return True


@pytest.mark.parametrize("write", ["submit", "review", "retry"])
@pytest.mark.parametrize("is_committed", [False, True])
def test_commit_without_an_answer_is_settled_by_the_same_key(
    write, is_committed, monkeypatch
):
    place = a_place()
    act = {"submit": a_submit, "review": a_review, "retry": a_retry}[write](place)
    before = everything()

    def commit_and_break():
        if is_committed:
            connection.connection.commit()
        kill_backend_of(connection)
        connection.connection.commit()
        connection.connection.execute("SELECT 1")

    with monkeypatch.context() as patch:
        patch.setattr(connection, "_commit", commit_and_break)
        with pytest.raises((Error, psycopg.Error)):
            act()
    connection.close()
    assert (everything() != before) == is_committed
    again = act()
    assert again.deduplicated == is_committed
    assert act().task == again.task
    assert_invariants(connection)
