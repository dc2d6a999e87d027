"""Batches of reviews whose runners are killed: nothing is lost, nothing done twice."""

import os
import signal
import threading
from contextlib import contextmanager

import psycopg
from django.contrib.auth.models import User
from django.db import connections

from tasks_app.domain.batches import ItemState
from tasks_app.models import OperationAudit
from tasks_app.queries.batches import batch_items
from tests.builders import a_queue
from tests.faults.processes import maintenance
from tests.live import eventually
from tests.tasks_app.batches.builders import a_batch, counts, state_of, uncertain

TASKS = 400


@contextmanager
def looked_at(queue, batch_id):
    """Somebody looks at the counts all the while; they must add up each time."""
    ended, looks, faults = threading.Event(), [], []

    def look():
        try:
            while not ended.wait(timeout=0.01):
                looks.append(counts(queue, batch_id).get(ItemState.SETTLED, 0))
        except AssertionError as fault:
            faults.append(fault)
        finally:
            connections["default"].close()

    watcher = threading.Thread(target=look)
    watcher.start()
    try:
        yield looks
    finally:
        ended.set()
        watcher.join()
    assert not faults
    assert looks == sorted(looks), "what was settled stays so"


def killed(process):
    os.kill(process.pid, signal.SIGKILL)
    process.popen.wait()


def is_in_the_middle(database):
    """Whether a runner waits for the audit with its review half written."""
    return database.execute(
        "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
        " AND query LIKE '%moved AS%' AND pid <> pg_backend_pid()"
    ).fetchone()[0]


def test_a_batch_survives_the_kill_of_its_runners_and_reviews_each_task_once(
    database_url,
):
    queue = a_queue()
    uncertain(queue, TASKS)
    batch_id = a_batch(queue, User.objects.create_superuser("ada"))
    with (
        psycopg.connect(database_url) as holder,
        psycopg.connect(database_url, autocommit=True) as database,
        looked_at(queue, batch_id) as looks,
    ):
        with maintenance(database_url) as runner:
            eventually(lambda: looks and looks[-1] >= TASKS // 10)
            # Each review stops where its audit would be written, and is killed there.
            holder.execute("LOCK TABLE tasks_operation_audit IN SHARE MODE")
            eventually(lambda: is_in_the_middle(database))
            settled = counts(queue, batch_id).get(ItemState.SETTLED, 0)
            killed(runner)
        holder.rollback()
        assert 0 < settled < TASKS
        assert counts(queue, batch_id).get(ItemState.SETTLED, 0) == settled
        with maintenance(database_url), maintenance(database_url):
            eventually(lambda: state_of(batch_id) == "DONE")

    assert counts(queue, batch_id).get(ItemState.SETTLED, 0) == TASKS
    audits = OperationAudit.objects.filter(action="task.review")
    items = batch_items(batch_id, states=(), after=0, limit=TASKS)
    assert {it.audit_id for it in items} == {it.id for it in audits}
    assert audits.count() == TASKS
