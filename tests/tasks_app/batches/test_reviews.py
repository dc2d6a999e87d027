"""Each task of a batch gets a review of its own, under the rules of any other."""

from uuid import UUID

import pytest
from django.contrib.auth.models import Group, Permission

from tasks_app.actions.reap_leases import reap_leases
from tasks_app.actions.start_probe import start_probe
from tasks_app.domain.batches import ItemState
from tasks_app.models import (
    OperationAudit,
    Queue,
    ReviewBatchItem,
    Task,
)
from tasks_app.queries.batches import (
    batch_items,
)
from tasks_app.subscribers.review_batches import run_review_batches
from tests.builders import (
    a_lease,
    a_queue,
    again,
    an_identity,
    lose,
    reach_of,
    reported,
)
from tests.tasks_app.batches.builders import (
    RESULT,
    a_batch,
    actor,
    counts,
    state_of,
    uncertain,
)

pytestmark = pytest.mark.django_db


def test_each_task_gets_a_review_of_its_own(ada):
    queue = a_queue()
    tasks = uncertain(queue, 5)

    batch_id = a_batch(queue, ada)
    assert Task.objects.filter(state="NEEDS_REVIEW").count() == 5, "nothing yet"
    assert run_review_batches(limit=100) == 5
    run_review_batches(limit=100)

    assert counts(queue, batch_id) == {ItemState.SETTLED: 5}
    assert state_of(batch_id) == "DONE"
    for task in Task.objects.filter(queue=queue):
        assert (task.state, task.result) == ("FAILED", RESULT)
        audit = OperationAudit.objects.get(task_id=task.id, action="task.review")
        assert audit.actor_id == UUID(int=ada.pk)
        assert (audit.reason, audit.evidence_ref) == (
            "The bank was down; nothing was booked.",
            "ticket:77",
        )
    items = batch_items(batch_id, states=(), after=0, limit=100)
    assert [it.task_id for it in items] == [it.id for it in tasks]
    assert all(it.audit_id for it in items)


@pytest.mark.parametrize("loss", ["permission", "active", "staff"])
def test_who_lost_the_right_reviews_nothing_more(ada, loss):
    queue = a_queue()
    uncertain(queue, 3)
    batch_id = a_batch(queue, ada)
    run_review_batches(limit=1)
    if loss == "permission":
        ada.user_permissions.clear()
    else:
        setattr(ada, f"is_{loss}", False)
        ada.save()

    run_review_batches(limit=100)

    assert counts(queue, batch_id) == {ItemState.SETTLED: 1, ItemState.REFUSED: 2}


@pytest.mark.parametrize("kind", ["group", "superuser"])
def test_the_right_may_come_from_elsewhere(ada, kind):
    queue = a_queue()
    uncertain(queue, 1)
    batch_id = a_batch(queue, ada)
    ada.user_permissions.clear()
    if kind == "group":
        group = Group.objects.create(name="reviewers")
        group.permissions.add(Permission.objects.get(codename="review_task"))
        ada.groups.add(group)
    else:
        ada.is_superuser = True
        ada.save()

    run_review_batches(limit=100)

    assert counts(queue, batch_id) == {ItemState.SETTLED: 1}


def test_a_review_that_was_made_before_is_not_repeated(ada):
    queue = a_queue()
    uncertain(queue, 2)
    batch_id = a_batch(queue, ada)
    run_review_batches(limit=1)
    ReviewBatchItem.objects.filter(batch_id=batch_id, state="SETTLED").update(
        state="PENDING", audit_id=None, finished_at=None
    )

    run_review_batches(limit=100)

    assert counts(queue, batch_id) == {ItemState.SETTLED: 2}
    assert OperationAudit.objects.filter(action="task.review").count() == 2


@pytest.mark.parametrize("kind", ["succeed", "unknown"])
def test_what_arrived_since_is_not_settled_over_unseen(ada, kind):
    queue = a_queue()
    early, late = a_lease(queue=queue), a_lease(queue=queue)
    for lease in (early, late):
        lose(lease)
    reap_leases(limit=10)
    reported(early, kind)
    batch_id = a_batch(queue, ada)

    reported(late, kind)
    run_review_batches(limit=100)

    assert counts(queue, batch_id) == {ItemState.SETTLED: 1, ItemState.REFUSED: 1}
    [refused] = batch_items(batch_id, states=(ItemState.REFUSED,), after=0, limit=9)
    assert (refused.task_id, refused.code) == (late.task.id, "DOSSIER_CHANGED")
    assert Task.objects.get(id=late.task.id).state == "NEEDS_REVIEW"
    assert Task.objects.get(id=early.task.id).state == "FAILED"


def test_what_a_probe_found_since_is_not_settled_over_unseen(ada):
    queue = a_queue()
    [task] = uncertain(queue, 1)
    batch_id = a_batch(queue, ada)
    probe = start_probe(
        task_id=task.id,
        identity=an_identity(),
        actor=actor(ada),
        reach=reach_of(queue),
    ).task
    reported(again(probe.id), "succeed", result='{"effect":"APPLIED"}')

    run_review_batches(limit=100)

    assert counts(queue, batch_id) == {ItemState.REFUSED: 1}


@pytest.mark.parametrize(
    ("limits", "code"),
    [
        ({"reviewer_may_be_submitter": False}, "REVIEW_NOT_ALLOWED"),
        ({"second_approver": True}, "SECOND_APPROVER"),
    ],
)
def test_a_batch_takes_nobody_elses_part(ada, limits, code):
    queue = a_queue()
    uncertain(queue, 1)
    Task.objects.filter(queue=queue).update(submitted_by=UUID(int=ada.pk))
    batch_id = a_batch(queue, ada)
    Queue.objects.filter(id=queue.id).update(**limits)

    run_review_batches(limit=100)

    [item] = batch_items(batch_id, states=(), after=0, limit=9)
    assert (item.state, item.code) == ("REFUSED", code)
    assert item.message
