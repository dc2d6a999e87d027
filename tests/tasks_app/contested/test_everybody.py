"""Everybody at work on the same rows for a while (F49)."""

import itertools
import time

import pytest
from django.db import OperationalError, connection

from orbit.errors import Refusal
from tasks_app.actions.configure_queue import configure_queue
from tasks_app.actions.expire_tasks import expire_tasks
from tasks_app.actions.reap_leases import reap_leases
from tasks_app.domain.limits import QueueLimits
from tests.live import eventually
from tests.tasks_app.contested.arena import Arena
from tests.tasks_app.contested.builders import a_place, count_of, success, the
from tests.tasks_app.contested.invariants import assert_invariants

SECONDS = 8
TASKS = 500
LOCK_TIMEOUT = "55P03"

LOSE_SOME_LEASES = """
UPDATE tasks_attempt SET lease_expires_at = clock_timestamp() - interval '1 s'
WHERE id IN (SELECT id FROM tasks_attempt WHERE outcome = 'ACTIVE'
             ORDER BY id DESC LIMIT 20 FOR UPDATE SKIP LOCKED)
"""
PASS_SOME_DEADLINES = """
UPDATE tasks_task SET deadline_at = clock_timestamp()
WHERE id IN (SELECT id FROM tasks_task WHERE state = 'WAITING'
             ORDER BY id LIMIT 2 FOR UPDATE SKIP LOCKED)
"""


class Crowd:
    """What each of them does, turn after turn."""

    def __init__(self):
        self.place = a_place(max_concurrency=10_000)
        self.task_ids = self.place.waiting(
            TASKS, recovery_safety="REPLAY_SAFE", retry={"max_attempts": 100}
        )
        self.end = time.monotonic() + SECONDS

    def is_over(self):
        """Whether it is time to stop."""
        return time.monotonic() >= self.end

    def again(self, act):
        """The act until it is time to stop; answers how often it had an effect."""

        def run():
            turns = itertools.takewhile(lambda _: not self.is_over(), itertools.count())
            return sum(effect_of(act, turn) for turn in turns)

        return run

    def review(self, turn):
        task_id = self.task_ids[turn * 7 % TASKS]
        return self.place.review(task_id, revision=str(the(task_id, "revision")))

    def cancel(self, turn):
        return self.place.cancel(self.task_ids[turn * 11 % TASKS])

    def lose_leases(self, _turn):
        run_sql(LOSE_SOME_LEASES)
        return reap_leases(limit=50)

    def expire(self, _turn):
        run_sql(PASS_SOME_DEADLINES)
        return expire_tasks(limit=50)

    def submit(self, _turn):
        return self.place.waiting(5, retry={"max_attempts": 9})

    def work(self, turn):
        leased = self.place.claim(20)
        reports = [success(entry) for entry in leased[: turn % 3]]
        return self.place.report_all(reports[::-1] if turn % 2 else reports)

    def configure(self, turn):
        # Claims yield to a change of limits, so it must not change all the time.
        eventually(lambda: count_of("tasks_attempt") > turn * 50 or self.is_over())
        limits = QueueLimits(max_concurrency=10_000 if turn % 2 else None)
        configure_queue(queue_id=self.place.queue_id, limits=limits)
        return True


def effect_of(act, turn):
    """Whether the turn did something; a wait may time out, a deadlock may not be."""
    try:
        return bool(act(turn))
    except Refusal:
        return False
    except OperationalError as error:
        if error.__cause__.sqlstate == LOCK_TIMEOUT:
            return False
        raise


def run_sql(statement):
    with connection.cursor() as cursor:
        cursor.execute(statement)


@pytest.mark.django_db(transaction=True)
def test_everybody_at_work_on_the_same_rows_never_deadlocks():
    crowd = Crowd()
    acts = {
        "reap": crowd.lose_leases,
        "reap too": crowd.lose_leases,
        "expire": crowd.expire,
        "review": crowd.review,
        "cancel": crowd.cancel,
        "work": crowd.work,
        "work too": crowd.work,
        "configure": crowd.configure,
        "submit": crowd.submit,
    }
    with Arena(len(acts)) as arena:
        effects = arena.race(*[crowd.again(act) for act in acts.values()])
    done = dict(zip(acts, effects, strict=True))
    assert done["reap"] + done["reap too"] > 0, done
    assert done["work"] + done["work too"] > 0, done
    assert done["cancel"] > 0, done
    assert_invariants(connection)
