"""A form that is sent again: one batch, or a refusal, never a second batch."""

import pytest
from django.contrib.auth.models import User

from orbit.ids import new_id
from tasks_app.domain import batches
from tasks_app.domain.errors import (
    IdempotencyConflict,
)
from tasks_app.queries.batches import (
    batches as newest,
)
from tasks_app.subscribers.review_batches import run_review_batches
from tests.builders import (
    a_queue,
    every_row,
)
from tests.tasks_app.batches.builders import a_batch, uncertain

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("is_done", [False, True])
@pytest.mark.parametrize("is_by_hand", [False, True])
def test_a_form_that_is_sent_twice_makes_one_batch(ada, is_done, is_by_hand):
    queue, key = a_queue(), new_id()
    tasks = uncertain(queue, 2)
    chosen = tuple(batches.ChosenTask(task_id=it.id.hex) for it in tasks)
    changes = {"tasks": chosen if is_by_hand else ()}
    first = a_batch(queue, ada, form_key=key, **changes)
    if is_done:
        run_review_batches(limit=100)

    assert a_batch(queue, ada, form_key=key, **changes) == first
    assert [it.id for it in newest(after=None, limit=10)] == [first]


@pytest.mark.parametrize(
    "changes", [{"outcome": "SUCCEEDED"}, {"handler": "pay"}, {"reason": "Other."}]
)
def test_a_form_that_was_changed_makes_no_batch_with_the_same_key(ada, changes):
    queue, key = a_queue(), new_id()
    uncertain(queue, 2)
    a_batch(queue, ada, form_key=key)
    before = every_row()
    with pytest.raises(IdempotencyConflict):
        a_batch(queue, ada, form_key=key, **changes)
    assert every_row() == before


def test_nobody_gets_a_batch_of_somebody_else_for_the_same_key(ada):
    queue, key = a_queue(), new_id()
    uncertain(queue, 2)
    a_batch(queue, ada, form_key=key)
    with pytest.raises(IdempotencyConflict):
        a_batch(queue, User.objects.create_user("bob"), form_key=key)
