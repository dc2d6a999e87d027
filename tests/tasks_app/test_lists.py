"""Lists of tasks by state read what they show, however long the past is."""

import pytest
from django.db import connection

from tasks_app.domain.lifecycle import State
from tasks_app.queries import TaskFilter, tasks_within
from tests.builders import a_queue, a_task, reach_of
from tests.tasks_app.pages.test_inbox import fill, plan_of

pytestmark = pytest.mark.django_db(transaction=True)

# What waits has indexes of its own to choose from.
RARE = sorted(set(State) - {State.SUCCEEDED, State.WAITING})


def listed(queue, *states):
    """The ids of a page of the queue's tasks in these states."""
    wanted = TaskFilter(states=states)
    found = tasks_within(reach_of(queue), wanted=wanted, after=None, limit=20)
    return [it["id"] for it in found]


@pytest.fixture
def queue():
    """A queue with a long past, of which one in twenty needs review."""
    queue = a_queue()
    fill(queue, count=4_000)
    return queue


@pytest.mark.parametrize("state", RARE)
def test_a_rare_state_is_found_along_its_own_index(queue, state):
    [plan] = plan_of(lambda: listed(queue, state))

    assert "tasks_task_by_state" in plan
    assert "Seq Scan" not in plan


def test_the_state_is_no_parameter_so_that_kept_plans_know_it(queue):
    sent = []

    def note(execute, sql, params, many, context):
        sent.append((sql, params))
        return execute(sql, params, many, context)

    with connection.execute_wrapper(note):
        listed(queue, "FAILED", "CANCELLED")

    [(sql, params)] = sent
    assert "'FAILED'" in sql
    assert "FAILED" not in params


def test_states_are_still_told_apart(queue):
    failed, waiting = (a_task(state=it, queue=queue) for it in ("FAILED", "WAITING"))

    assert listed(queue, "FAILED") == [failed.id]
    assert listed(queue, "FAILED", "WAITING") == [waiting.id, failed.id]
    assert len(listed(queue, "SUCCEEDED")) == 21
