"""The model of one task, and what every act of the machine stands on."""

import uuid
from dataclasses import dataclass, field

from django.db import connection
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
)

from orbit.errors import Refusal
from tasks_app.actions.claim_tasks import Assignment
from tasks_app.api.shapes import task_shape
from tests.conftest import empty_every_table
from tests.tasks_app.contested.builders import a_place
from tests.tasks_app.contested.invariants import assert_invariants

OUTSTANDING = {"WAITING", "RUNNING", "NEEDS_REVIEW"}


@dataclass
class Known:
    """What the model knows of one task."""

    id: uuid.UUID
    is_replay_safe: bool
    max_attempts: int
    key: str | None
    state: str = "WAITING"
    revision: int = 1
    attempts: list[Assignment] = field(default_factory=list)
    is_due: bool = True
    is_unknown: bool = False
    is_cancel_asked: bool = False
    child: uuid.UUID | None = None

    def move(self, state, *, is_unknown=None):
        """One change of state."""
        self.state, self.revision = state, self.revision + 1
        if is_unknown is not None:
            self.is_unknown = is_unknown

    def has_attempts_left(self):
        """Whether it may run again."""
        return len(self.attempts) < self.max_attempts


def refusal_of(act):
    """The refusal that the act met; it must meet one."""
    try:
        answer = act()
    except Refusal as refusal:
        return refusal
    assert isinstance(answer, Refusal), answer
    return answer


def told(task):
    """What a caller hears of the task; its deadline is moved by the model itself."""
    return {**task_shape(task), "deadline_at": None}


def has(*states):
    """The precondition that some task is in one of the states."""
    return precondition(lambda machine: machine.those(*states))


class Ground(RuleBasedStateMachine):
    """A queue, what the model knows of its tasks, and what holds after each act."""

    @initialize(
        outstanding=st.integers(3, 30),
        slots=st.one_of(st.none(), st.integers(1, 4)),
        per_key=st.one_of(st.none(), st.integers(1, 2)),
    )
    def open(self, outstanding, slots, per_key):
        self.limits = {
            "max_outstanding": outstanding,
            "max_concurrency": slots,
            "key_concurrency": per_key,
        }
        self.place = a_place(**self.limits)
        self.is_paused = False
        self.tasks = {}
        self.writes = []

    def teardown(self):
        """Nothing is left for the next run."""
        empty_every_table()

    # --- who is where

    def those(self, *states):
        return [task for task in self.tasks.values() if task.state in states]

    def one_of(self, data, *states):
        return data.draw(st.sampled_from(self.those(*states)))

    def is_full(self):
        return len(self.those(*OUTSTANDING)) >= self.limits["max_outstanding"]

    # --- what holds after each step

    @invariant()
    def the_engine_and_the_model_agree(self):
        if not hasattr(self, "tasks"):
            return
        with connection.cursor() as cursor:
            cursor.execute("SELECT id, state, revision, attempt_count FROM tasks_task")
            found = {row[0]: row[1:] for row in cursor.fetchall()}
        assert found == {
            task.id: (task.state, task.revision, len(task.attempts))
            for task in self.tasks.values()
        }
        assert_invariants(connection)
