"""Batches of reviews whose runners are killed: nothing is lost, nothing done twice."""

import os
import signal
import threading
from contextlib import contextmanager
from uuid import UUID

import msgspec
import psycopg
from django.contrib.auth.models import User
from django.db import connections

from orbit.ids import new_id
from tasks_app.actions.create_review_batch import create_review_batch
from tasks_app.domain.access import Actor, ActorKind
from tasks_app.domain.batches import ItemState, ReviewBatchDraft
from tasks_app.models import OperationAudit, ReviewBatch
from tasks_app.queries.batches import batch_detail, batch_items
from tests.builders import (
    a_queue,
    a_submission,
    claimed,
    reach_of,
    report_all,
    submitted,
)
from tests.faults.processes import maintenance
from tests.live import eventually

TASKS = 400


def a_long_batch():
    """A queue with a batch over all its tasks, which a superuser decided about."""
    queue = a_queue()
    submitted(*(a_submission(queue) for _ in range(TASKS)), queue=queue)
    leases = []
    while len(leases) < TASKS:
        leases += claimed(queue)
    report_all(queue, leases, "unknown")
    ada = User.objects.create_superuser("ada")
    draft = ReviewBatchDraft(
        queue_id=queue.id.hex,
        outcome="FAILED",
        result=msgspec.Raw(b'{"paid":false}'),
        reason="The bank was down.",
        evidence_ref="ticket:77",
        execution_settled=True,
        canary=0,
    )
    batch_id = create_review_batch(
        draft,
        form_key=new_id(),
        actor=Actor(id=UUID(int=ada.pk), kind=ActorKind.USER),
        reach=reach_of(queue),
    )
    return queue, batch_id


def counts_of(queue, batch_id):
    detail = batch_detail(reach_of(queue), batch_id)
    assert sum(detail.counts.values()) == TASKS
    return detail.counts


@contextmanager
def looked_at(queue, batch_id):
    """Somebody looks at the counts all the while; they must add up each time."""
    ended, looks, faults = threading.Event(), [], []

    def look():
        try:
            while not ended.wait(timeout=0.01):
                looks.append(counts_of(queue, batch_id)[ItemState.SETTLED])
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
    queue, batch_id = a_long_batch()
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
            settled = counts_of(queue, batch_id)[ItemState.SETTLED]
            killed(runner)
        holder.rollback()
        assert 0 < settled < TASKS
        assert counts_of(queue, batch_id)[ItemState.SETTLED] == settled
        with maintenance(database_url), maintenance(database_url):
            eventually(lambda: ReviewBatch.objects.get(id=batch_id).state == "DONE")

    assert counts_of(queue, batch_id)[ItemState.SETTLED] == TASKS
    audits = OperationAudit.objects.filter(action="task.review")
    items = batch_items(batch_id, states=(), after=0, limit=TASKS)
    assert {it.audit_id for it in items} == {it.id for it in audits}
    assert audits.count() == TASKS
