"""Many reviews by one decision: frozen membership, a canary, and counts that add up."""

import json
import threading
from contextlib import contextmanager
from datetime import timedelta
from uuid import UUID

import msgspec
import pytest
from django.contrib.auth.models import Group, Permission, User
from django.db import Error, connection, connections, transaction

from orbit.errors import Conflict, Invalid
from orbit.ids import new_id
from tasks_app.actions.create_review_batch import create_review_batch
from tasks_app.actions.reap_leases import reap_leases
from tasks_app.actions.start_probe import start_probe
from tasks_app.actions.steer_review_batch import steer_review_batch
from tasks_app.domain import batches
from tasks_app.domain.access import Actor, ActorKind
from tasks_app.domain.batches import ItemState, ReviewBatchDraft, Steer
from tasks_app.domain.causes import Cause
from tasks_app.domain.errors import (
    IdempotencyConflict,
    InvalidField,
    QueueNotFound,
)
from tasks_app.domain.lifecycle import Failure
from tasks_app.models import (
    OperationAudit,
    Queue,
    ReviewBatch,
    ReviewBatchEvent,
    ReviewBatchItem,
    Task,
)
from tasks_app.queries.batches import (
    batch_detail,
    batch_items,
    exported_items,
)
from tasks_app.queries.batches import (
    batches as newest,
)
from tasks_app.queries.inbox import InboxFilter, count_inbox, inbox
from tasks_app.subscribers.review_batches import run_review_batches
from tests.builders import (
    a_lease,
    a_queue,
    a_submission,
    a_task,
    again,
    an_identity,
    claimed,
    every_row,
    lose,
    pass_time,
    reach_of,
    report_all,
    reported,
    reviewed,
    submitted,
)
from tests.live import eventually

pytestmark = pytest.mark.django_db

RESULT = '{"sequence":9007199254740993,"amount":1.10}'


@pytest.fixture
def ada():
    """Somebody who may review."""
    user = User.objects.create_user("ada", is_staff=True)
    user.user_permissions.add(Permission.objects.get(codename="review_task"))
    return user


def actor(user):
    return Actor(id=UUID(int=user.pk), kind=ActorKind.USER)


def uncertain(queue, count, **changes):
    """So many tasks in NEEDS_REVIEW, oldest first."""
    submitted(
        *(a_submission(queue, handler="pay", **changes) for _ in range(count)),
        queue=queue,
    )
    leases = []
    while len(leases) < count:
        leases += claimed(queue)
    report_all(queue, leases, "unknown")
    return list(
        Task.objects.filter(queue=queue, state="NEEDS_REVIEW").order_by(
            "updated_at", "id"
        )
    )


def a_draft(queue, **changes):
    wanted = {
        "queue_id": queue.id.hex,
        "outcome": "FAILED",
        "result": msgspec.Raw(RESULT.encode()),
        "reason": "The bank was down; nothing was booked.",
        "evidence_ref": "ticket:77",
        "execution_settled": True,
        "canary": 0,
    }
    return ReviewBatchDraft(**{**wanted, **changes})


def a_batch(queue, by, *, form_key=None, **changes):
    """The id of a new batch."""
    return create_review_batch(
        a_draft(queue, **changes),
        form_key=form_key or new_id(),
        actor=actor(by),
        reach=reach_of(queue),
    )


def counts(queue, batch_id):
    """How many items are in each state; they add up at every look."""
    detail = batch_detail(reach_of(queue), batch_id)
    assert sum(detail.counts.values()) == detail.batch.total
    return {state: n for state, n in detail.counts.items() if n}


def state_of(batch_id):
    return ReviewBatch.objects.get(id=batch_id).state


def steer(verb, queue, batch_id, by):
    return steer_review_batch(
        Steer(verb), batch_id=batch_id, actor=actor(by), reach=reach_of(queue)
    )


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


def test_what_comes_later_is_not_a_member(ada):
    queue = a_queue()
    uncertain(queue, 2)
    batch_id = a_batch(queue, ada)
    [later] = [it for it in uncertain(queue, 1) if not _is_member(batch_id, it)]

    run_review_batches(limit=100)

    assert Task.objects.get(id=later.id).state == "NEEDS_REVIEW"
    assert counts(queue, batch_id) == {ItemState.SETTLED: 2}


def _is_member(batch_id, task):
    return ReviewBatchItem.objects.filter(batch_id=batch_id, task_id=task.id).exists()


def test_a_thousand_with_seven_taken_and_three_refused_add_up(ada):
    queue = a_queue(max_outstanding=2_000)
    tasks = uncertain(queue, 997)
    owned = [a_task(state="NEEDS_REVIEW", queue=queue, owner="WORKFLOW") for _ in "abc"]
    batch_id = a_batch(queue, ada)
    for task in tasks[10:17]:
        reviewed(task, outcome="SUCCEEDED")

    looks = []
    while state_of(batch_id) != "DONE":
        run_review_batches(limit=250)
        looks.append(counts(queue, batch_id))

    assert looks[-1] == {
        ItemState.SETTLED: 990,
        ItemState.TAKEN: 7,
        ItemState.REFUSED: 3,
    }
    refused = list(exported_items(batch_id, states=(ItemState.REFUSED,)))
    assert {it["task_id"] for it in refused} == {it.id.hex for it in owned}
    assert {it["code"] for it in refused} == {"OWNER"}
    taken = list(exported_items(batch_id, states=(ItemState.TAKEN,)))
    assert all(it["audit_id"] for it in taken)
    assert OperationAudit.objects.filter(action="task.review").count() == 997


def test_the_first_ones_are_done_and_then_a_person_is_asked(ada):
    queue = a_queue()
    uncertain(queue, 6)
    batch_id = a_batch(queue, ada, canary=2)

    run_review_batches(limit=100)
    run_review_batches(limit=100)

    assert state_of(batch_id) == "HELD"
    assert counts(queue, batch_id) == {ItemState.SETTLED: 2, ItemState.PENDING: 4}
    steer("continue", queue, batch_id, ada)
    run_review_batches(limit=100)
    run_review_batches(limit=100)
    assert counts(queue, batch_id) == {ItemState.SETTLED: 6}
    verbs = [it.verb for it in batch_detail(reach_of(queue), batch_id).events]
    assert verbs == ["create", "hold", "continue", "done"]


def test_paused_it_rests_and_resumed_it_goes_on_where_it_was(ada):
    queue = a_queue()
    uncertain(queue, 4)
    batch_id = a_batch(queue, ada, canary=3)
    run_review_batches(limit=1)

    steer("pause", queue, batch_id, ada)
    assert run_review_batches(limit=100) == 0
    assert steer("resume", queue, batch_id, ada) == "CANARY"
    run_review_batches(limit=100)

    assert counts(queue, batch_id) == {ItemState.SETTLED: 3, ItemState.PENDING: 1}


def test_paused_after_its_first_ones_it_still_asks_a_person(ada):
    queue = a_queue()
    uncertain(queue, 3)
    batch_id = a_batch(queue, ada, canary=2)
    run_review_batches(limit=2)

    steer("pause", queue, batch_id, ada)
    assert steer("resume", queue, batch_id, ada) == "CANARY"
    run_review_batches(limit=100)

    assert state_of(batch_id) == "HELD"
    assert counts(queue, batch_id) == {ItemState.SETTLED: 2, ItemState.PENDING: 1}
    steer("continue", queue, batch_id, ada)
    steer("pause", queue, batch_id, ada)
    assert steer("resume", queue, batch_id, ada) == "RUNNING"


def test_a_canary_of_all_is_done_without_a_person(ada):
    queue = a_queue()
    uncertain(queue, 2)
    batch_id = a_batch(queue, ada, canary=2)
    run_review_batches(limit=100)
    assert state_of(batch_id) == "DONE"


def test_aborted_it_leaves_the_rest_alone(ada):
    queue = a_queue()
    uncertain(queue, 4)
    batch_id = a_batch(queue, ada)
    run_review_batches(limit=1)

    steer("abort", queue, batch_id, ada)

    assert run_review_batches(limit=100) == 0
    assert counts(queue, batch_id) == {ItemState.SETTLED: 1, ItemState.ABORTED: 3}
    assert Task.objects.filter(queue=queue, state="NEEDS_REVIEW").count() == 3
    with pytest.raises(Conflict, match="ABORTED cannot resume"):
        steer("resume", queue, batch_id, ada)


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
    Queue.objects.filter(id=queue.id).update(**limits)
    batch_id = a_batch(queue, ada)

    run_review_batches(limit=100)

    [item] = batch_items(batch_id, states=(), after=0, limit=9)
    assert (item.state, item.code) == ("REFUSED", code)
    assert item.message


def test_tasks_by_hand_may_have_evidence_of_their_own(ada):
    queue = a_queue()
    first, second, _ = uncertain(queue, 3)
    chosen = (
        batches.ChosenTask(task_id=first.id.hex, evidence_ref="bank:1"),
        batches.ChosenTask(task_id=second.id.hex),
    )

    batch_id = a_batch(queue, ada, tasks=chosen)
    run_review_batches(limit=100)

    assert counts(queue, batch_id) == {ItemState.SETTLED: 2}
    audits = OperationAudit.objects.filter(action="task.review")
    assert {it.evidence_ref for it in audits} == {"bank:1", "ticket:77"}


@pytest.mark.parametrize(
    ("changes", "members"),
    [
        ({"error_code": "BANK_DOWN"}, {1, 2}),
        ({"error_code": "BANK_DOWN", "handler": "pay"}, {1, 2}),
        ({"error_code": "BANK_DOWN", "min_age_ms": 3_600_000}, {2}),
        ({"max_age_ms": 3_600_000}, {0, 1}),
        ({"min_age_ms": 3_600_000, "max_age_ms": 10_800_000}, {2}),
    ],
)
def test_a_cause_may_be_an_error_and_an_age(ada, changes, members):
    queue = a_queue()
    tasks = [a_task(state="NEEDS_REVIEW", queue=queue, handler="pay")]
    for _ in range(2):
        lease = a_lease(queue=queue, handler="pay")
        reported(lease, "unknown", failure=Failure(code="BANK_DOWN", message="down"))
        tasks.append(Task.objects.get(id=lease.task.id))
    pass_time(tasks[2].id, by=timedelta(hours=2))

    batch_id = a_batch(queue, ada, **changes)

    found = batch_items(batch_id, states=(), after=0, limit=9)
    assert {it.task_id for it in found} == {tasks[number].id for number in members}
    foretold = InboxFilter(queue_id=queue.id, **changes)
    assert count_inbox(foretold).waiting == len(members)
    shown = inbox(foretold, after=None, limit=9)
    assert [it.id for it in shown] == [it.task_id for it in found]


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"reason": " "}, "reason"),
        ({"evidence_ref": "\t"}, "evidence_ref"),
        ({"result": msgspec.Raw(b"null")}, "result"),
        ({"execution_settled": False}, "execution_settled"),
        ({"handler": "nobody"}, "handler"),
        ({"cause": Cause.DEADLINE}, "handler"),
        ({"error_code": "NOBODYS"}, "handler"),
        ({"min_age_ms": 86_400_000}, "handler"),
        ({"min_age_ms": 2, "max_age_ms": 1}, "max_age_ms"),
        ({"canary": 101}, "canary"),
        ({"tasks": (batches.ChosenTask(task_id="a" * 32),)}, "tasks.0.task_id"),
        ({"tasks": (batches.ChosenTask(task_id="a" * 32),) * 2}, "tasks"),
        (
            {"tasks": (batches.ChosenTask(task_id="a" * 32, evidence_ref="a b"),)},
            "tasks.0.evidence_ref",
        ),
    ],
)
def test_what_no_review_would_take_makes_no_batch(ada, changes, field):
    queue = a_queue()
    uncertain(queue, 1)
    before = every_row()
    with pytest.raises((Invalid, InvalidField)) as refused:
        a_batch(queue, ada, **changes)
    assert refused.value.field == field
    assert every_row() == before


def test_more_than_a_batch_may_have_is_refused(ada, monkeypatch):
    queue = a_queue()
    uncertain(queue, 3)
    monkeypatch.setattr("tasks_app.actions.create_review_batch.MAX_ITEMS", 2)
    with pytest.raises(Invalid, match="More than 2 tasks"):
        a_batch(queue, ada)


def test_a_queue_out_of_reach_is_not_found(ada):
    queue, other = a_queue(), a_queue()
    uncertain(queue, 1)
    with pytest.raises(QueueNotFound):
        create_review_batch(
            a_draft(queue),
            form_key=new_id(),
            actor=actor(ada),
            reach=reach_of(other),
        )


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


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE tasks_review_batch SET outcome = 'SUCCEEDED'",
        "UPDATE tasks_review_batch SET result = '1'",
        "UPDATE tasks_review_batch SET content_digest = ''",
        "UPDATE tasks_review_batch_item SET evidence_count = 9",
        "UPDATE tasks_review_batch_item SET expected_revision = 9",
        "DELETE FROM tasks_review_batch_item",
        "DELETE FROM tasks_review_batch_event",
        "UPDATE tasks_review_batch_event SET verb = 'abort'",
    ],
)
def test_the_decision_and_its_members_are_frozen(ada, statement):
    queue = a_queue()
    uncertain(queue, 1)
    a_batch(queue, ada)
    with (
        pytest.raises(Error, match="refused"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(statement)


def at_once(*acts):
    """Run these in threads of their own, begun at the same moment."""
    ready = threading.Barrier(len(acts))

    def run(act):
        ready.wait()
        try:
            act()
        finally:
            connections["default"].close()

    threads = [threading.Thread(target=run, args=(act,)) for act in acts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


@pytest.mark.django_db(transaction=True)
def test_two_runners_at_once_review_each_task_once(ada):
    queue = a_queue()
    uncertain(queue, 60)
    batch_id = a_batch(queue, ada)
    looks = []

    def run():
        while state_of(batch_id) != "DONE":
            run_review_batches(limit=5)

    def look():
        while state_of(batch_id) != "DONE":
            looks.append(counts(queue, batch_id))

    at_once(run, run, look)

    assert len(looks) > 3, "they add up while it runs"
    assert counts(queue, batch_id) == {ItemState.SETTLED: 60}
    assert OperationAudit.objects.filter(action="task.review").count() == 60
    done = ReviewBatchEvent.objects.filter(batch_id=batch_id, verb="done")
    assert done.count() == 1


@pytest.mark.django_db(transaction=True)
def test_a_form_that_is_sent_many_times_at_once_makes_one_batch(ada):
    queue, key, made = a_queue(), new_id(), []
    uncertain(queue, 20)

    at_once(*[lambda: made.append(a_batch(queue, ada, form_key=key))] * 6)

    assert len(made) == 6
    assert len(set(made)) == 1
    assert counts(queue, made[0]) == {ItemState.PENDING: 20}


@contextmanager
def held(task):
    """Somebody else holds the task's lock; the runners here soon give up."""
    with connection.cursor() as cursor:
        cursor.execute("SET lock_timeout = 100")
    held_by, let_go = threading.Event(), threading.Event()

    def hold():
        with transaction.atomic():
            Task.objects.select_for_update().get(id=task.id)
            held_by.set()
            let_go.wait(timeout=30)
        connections["default"].close()

    holder = threading.Thread(target=hold)
    holder.start()
    try:
        assert held_by.wait(timeout=30)
        yield
    finally:
        let_go.set()
        holder.join()
        with connection.cursor() as cursor:
            cursor.execute("RESET lock_timeout")


@pytest.mark.django_db(transaction=True)
def test_a_task_that_somebody_holds_holds_up_no_other(ada):
    queue = a_queue()
    tasks = uncertain(queue, 4)
    batch_id = a_batch(queue, ada)

    with held(tasks[1]):
        assert run_review_batches(limit=100) == 3
        assert run_review_batches(limit=100) == 0
        assert counts(queue, batch_id) == {ItemState.SETTLED: 3, ItemState.PENDING: 1}
        assert state_of(batch_id) == "RUNNING"
    run_review_batches(limit=100)
    run_review_batches(limit=100)

    assert counts(queue, batch_id) == {ItemState.SETTLED: 4}
    assert state_of(batch_id) == "DONE"


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("verb", ["pause", "abort"])
def test_a_running_batch_is_stopped_between_two_items(ada, verb):
    queue = a_queue()
    uncertain(queue, 60)
    batch_id = a_batch(queue, ada)
    at_stop = []

    def stop():
        eventually(lambda: ItemState.SETTLED in counts(queue, batch_id))
        steer(verb, queue, batch_id, ada)
        at_stop.append(counts(queue, batch_id))

    at_once(lambda: run_review_batches(limit=60), stop)

    found = counts(queue, batch_id)
    left = ItemState.PENDING if verb == "pause" else ItemState.ABORTED
    assert set(found) <= {ItemState.SETTLED, left}
    # A pause lets the item that is under way come to its end; an abort waits for it.
    under_way = found[ItemState.SETTLED] - at_stop[0][ItemState.SETTLED]
    assert under_way <= (1 if verb == "pause" else 0)
    reviews = OperationAudit.objects.filter(action="task.review").count()
    assert reviews == found[ItemState.SETTLED]
    assert state_of(batch_id) in {"PAUSED", "ABORTED"}


def test_batches_share_a_pass(ada):
    queue = a_queue()
    uncertain(queue, 12)
    long = a_batch(queue, ada)
    other = a_queue()
    uncertain(other, 2)
    short = a_batch(other, ada)

    assert run_review_batches(limit=6) == 5

    assert counts(queue, long) == {ItemState.SETTLED: 3, ItemState.PENDING: 9}
    assert state_of(short) == "DONE"


def test_the_cause_is_kept(ada):
    queue = a_queue()
    uncertain(queue, 1)
    batch_id = a_batch(queue, ada, handler="pay", min_age_ms=0)
    assert json.loads(ReviewBatch.objects.get(id=batch_id).cause) == {
        "handler": "pay",
        "cause": None,
        "error_code": None,
        "min_age_ms": 0,
        "max_age_ms": None,
        "by_hand": False,
    }
