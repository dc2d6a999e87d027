"""Separation of duty: who may review, and reviews that take two people."""

import json
from datetime import timedelta
from uuid import UUID

import msgspec
import pytest
from django.db import connection

from orbit.outbox.models import ResultEvent
from tasks_app import queries
from tasks_app.actions.configure_queue import configure_queue
from tasks_app.domain.access import Actor, ActorKind
from tasks_app.domain.errors import (
    IdempotencyConflict,
    InvalidField,
    ProposalNotFound,
    ReviewNotAllowed,
    StateConflict,
)
from tasks_app.domain.limits import QueueLimits
from tasks_app.models import OperationAudit, Receipt, ReviewProposal, Task
from tests.builders import (
    OPERATOR,
    SUBMITTER,
    a_lease,
    a_queue,
    a_task,
    a_token,
    an_identity,
    approved,
    every_row,
    proposed,
    reach_of,
    reported,
    reviewed,
    room_of,
    row_of,
    withdrawn,
)
from tests.tasks_app.api.calls import Caller, a_review
from tokens_app.domain.grant import Actor as Issuer
from tokens_app.public import Rotation, RotationReason, rotate_token

pytestmark = pytest.mark.django_db

ADA = Actor(id=UUID(int=7), kind=ActorKind.USER)
GRACE = Actor(id=UUID(int=8), kind=ActorKind.USER)


def a_careful_queue(**limits):
    """A queue whose reviews take two people."""
    return a_queue(second_approver=True, **limits)


def uncertain(queue=None):
    """A task that needs review."""
    return a_task(state="NEEDS_REVIEW", queue=queue or a_careful_queue())


def refused(act, kind=StateConflict):
    """The reason of the refusal; nothing may be written."""
    before = every_row()
    with pytest.raises(kind) as refusal:
        act()
    assert every_row() == before
    assert str(refusal.value).strip()
    return refusal.value.details.get("reason")


def let_expire(proposal):
    """Let the time for approval be over."""
    with connection.cursor() as cursor:
        cursor.execute("SET session_replication_role = replica")
        cursor.execute(
            "UPDATE tasks_review_proposal SET expires_at = clock_timestamp()"
            " WHERE id = %s",
            [proposal.id],
        )
        cursor.execute("SET session_replication_role = origin")


def test_a_review_by_one_person_is_shown_the_way():
    task = uncertain()

    assert refused(lambda: reviewed(task)) == "SECOND_APPROVER"


def test_one_proposes_another_approves_and_one_operation_names_both():
    queue = a_careful_queue(max_outstanding=10)
    task = uncertain(queue)
    before = row_of(task.id)

    first = proposed(task, actor=ADA)
    after = row_of(task.id)
    answer = approved(first.proposal, actor=GRACE)

    assert {name for name in after if after[name] != before[name]} == {
        "audit_length",
        "audit_head",
    }
    assert (answer.task.state, answer.task.revision) == ("FAILED", 4)
    assert answer.task.result == '{"confirmed":true,"n":9007199254740993}'
    assert room_of(queue.id) == 10
    audit = OperationAudit.objects.get(id=answer.audit_id)
    assert (audit.action, audit.actor_id, audit.actor_kind) == (
        "task.approve",
        ADA.id,
        "USER",
    )
    assert (audit.approver_id, audit.approver_kind) == (GRACE.id, "USER")
    said = json.loads(audit.after)
    assert said["proposed_by"] == ADA.id.hex
    assert said["approved_by"] == GRACE.id.hex
    assert said["proposal_id"] == first.proposal.id.hex
    assert said["execution_settled"] is True
    assert ResultEvent.objects.latest("id").kind == "task.failed"
    [stored] = queries.proposals_of(reach_of(queue), task.id)
    assert (stored.state, stored.decided_by) == ("APPROVED", GRACE.id)


@pytest.mark.parametrize("actor", [ADA, SUBMITTER])
def test_nobody_approves_an_own_proposal(actor):
    first = proposed(uncertain(), actor=actor)

    assert (
        refused(lambda: approved(first.proposal, actor=actor), ReviewNotAllowed)
        == "PROPOSER"
    )


def test_who_submitted_neither_reviews_nor_proposes_nor_approves_where_it_matters():
    queue = a_queue(reviewer_may_be_submitter=False)
    task, other = uncertain(queue), uncertain(queue)
    first = proposed(other, actor=ADA)

    for act in (
        lambda: proposed(task, actor=SUBMITTER),
        lambda: approved(first.proposal, actor=SUBMITTER),
        lambda: reviewed(task, actor=SUBMITTER),
    ):
        assert refused(act, ReviewNotAllowed) == "SUBMITTER"
    assert reviewed(task).task.state == "FAILED"
    assert approved(first.proposal, actor=GRACE).task.state == "FAILED"


@pytest.mark.django_db(transaction=True)
def test_a_rule_that_comes_later_binds_who_proposed_before():
    queue = a_careful_queue()
    first = proposed(uncertain(queue), actor=SUBMITTER)
    limits = QueueLimits(second_approver=True, reviewer_may_be_submitter=False)
    configure_queue(queue_id=queue.id, limits=limits)

    assert refused(lambda: approved(first.proposal), ReviewNotAllowed) == "SUBMITTER"


def test_a_rotated_token_is_the_same_person():
    queue = a_careful_queue()
    task = uncertain(queue)
    token, other = a_token(queue), a_token(queue)
    path = f"tasks/{task.id.hex}"
    said = Caller(token).post(f"{path}:propose-review", a_review(task))
    assert said.status == 201
    rotated = rotate_token(
        token_id=token.token_id,
        rotation=Rotation(
            reason=RotationReason.ROUTINE,
            overlap=timedelta(),
            expected_rotation_count=0,
        ),
        by=Issuer(name="user:ada"),
    )
    body = {
        "proposal_id": said.data["proposal"]["id"],
        "expected_revision": str(task.revision),
    }

    own = Caller(rotated).post(f"{path}:approve-review", body)
    done = Caller(other).post(f"{path}:approve-review", body)

    assert own.refusal[:2] == (403, "REVIEW_NOT_ALLOWED")
    assert own.error["reason"] == "PROPOSER"
    assert done.data["task"]["state"] == "FAILED"
    shown = Caller(other).get(f"{path}/operations/{done.data['audit_id']}").data
    assert shown["actor_id"] == token.token_id.hex
    assert shown["approver_id"] == other.token_id.hex


def test_one_proposal_is_open_at_a_time():
    task = uncertain()
    first = proposed(task, actor=ADA)

    assert refused(lambda: proposed(task, actor=GRACE)) == "PROPOSED"
    withdrawn(first.proposal, actor=GRACE)
    assert proposed(task, actor=GRACE).proposal.state == "OPEN"


def test_what_is_withdrawn_is_over():
    task = uncertain()
    first = proposed(task, actor=ADA)

    answer = withdrawn(first.proposal, actor=ADA)

    assert answer.proposal.state == "WITHDRAWN"
    assert refused(lambda: approved(first.proposal)) == "PROPOSAL_WITHDRAWN"
    assert refused(lambda: withdrawn(first.proposal)) == "PROPOSAL_WITHDRAWN"
    assert Task.objects.get(id=task.id).state == "NEEDS_REVIEW"


def test_what_has_expired_is_over_and_may_be_proposed_anew():
    task = uncertain()
    first = proposed(task, actor=ADA)
    let_expire(first.proposal)

    assert refused(lambda: approved(first.proposal)) == "PROPOSAL_EXPIRED"
    assert refused(lambda: withdrawn(first.proposal)) == "PROPOSAL_EXPIRED"
    second = proposed(task, actor=ADA)
    assert approved(second.proposal).task.state == "FAILED"


def test_a_proposal_expires_as_long_after_as_the_queue_says():
    task = uncertain(a_careful_queue(approval_seconds=90))

    first = proposed(task).proposal

    assert first.expires_at - first.created_at == timedelta(seconds=90)


def test_a_proposal_dies_when_the_task_moves_on():
    task = a_task(state="NEEDS_REVIEW")
    first = proposed(task, actor=ADA)
    done = reviewed(task)

    before = every_row()
    with pytest.raises(StateConflict) as conflict:
        approved(first.proposal)

    assert every_row() == before
    assert conflict.value.details["reason"] == "PROPOSAL_SUPERSEDED"
    assert conflict.value.details["audit_id"] == done.audit_id
    [stored] = queries.proposals_of(reach_of(task.queue), task.id)
    assert stored.state == "SUPERSEDED"


def test_a_replay_gets_the_same_receipt_whatever_came_later():
    task = uncertain()
    keys = [an_identity() for _ in range(3)]
    first = proposed(task, actor=ADA, identity=keys[0])
    over = withdrawn(first.proposal, identity=keys[1])
    second = proposed(task, actor=ADA)
    done = approved(second.proposal, identity=keys[2])
    before = every_row()

    assert proposed(task, actor=ADA, identity=keys[0]) == first._replace(
        deduplicated=True
    )
    again = withdrawn(first.proposal, identity=keys[1])
    assert (again.audit_id, again.proposal.state) == (over.audit_id, "WITHDRAWN")
    assert again.proposal.decided_at == over.proposal.decided_at
    assert approved(second.proposal, identity=keys[2]) == done._replace(
        deduplicated=True
    )
    assert every_row() == before
    with pytest.raises(IdempotencyConflict):
        proposed(task, identity=an_identity_of(keys[0]))


def an_identity_of(identity):
    return type(identity)(key_digest=identity.key_digest, content_digest=b"x" * 32)


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        ({"execution_settled": False}, InvalidField),
        ({"result": msgspec.Raw(b"null")}, InvalidField),
        ({"reason": " "}, InvalidField),
        ({"expected_revision": "2"}, StateConflict),
    ],
)
def test_what_no_review_may_say_no_proposal_may(change, kind):
    task = uncertain()

    refused(lambda: proposed(task, **change), kind)

    assert not Receipt.objects.filter(operation="task.propose").exists()


def test_another_tasks_proposal_is_not_found():
    queue = a_careful_queue()
    task, other = uncertain(queue), uncertain(queue)
    first = proposed(task, actor=ADA)
    proposed(other, actor=ADA)

    with pytest.raises(ProposalNotFound):
        approved(first.proposal._replace(task_id=other.id))
    with pytest.raises(ProposalNotFound):
        withdrawn(first.proposal._replace(task_id=other.id))


def test_open_proposals_are_listed_within_reach_and_page_by_page():
    queue = a_careful_queue()
    tasks = [uncertain(queue) for _ in range(5)]
    made = [proposed(task, actor=ADA).proposal for task in tasks]
    withdrawn(made[0])
    approved(made[1])
    let_expire(made[2])
    elsewhere = proposed(uncertain()).proposal

    first = queries.open_proposals(reach_of(queue), after=None, limit=1)
    rest = queries.open_proposals(
        reach_of(queue),
        after=queries.Position(first[0].created_at, first[0].id),
        limit=1,
    )

    assert [it.id for it in first] == [made[4].id, made[3].id]
    assert [it.id for it in rest] == [made[3].id]
    assert {it.state for it in first} == {"OPEN"}
    assert ReviewProposal.objects.filter(id=elsewhere.id).exists()


def test_a_late_report_changes_nothing_about_a_proposal():
    lease = a_lease(queue=a_careful_queue())
    reported(lease, "unknown")
    first = proposed(Task.objects.get(id=lease.task.id), actor=ADA)

    reported(lease, "succeed")

    assert approved(first.proposal, actor=OPERATOR).task.state == "FAILED"
