"""Approvals that meet each other, a review, a withdrawal, their end, a report."""

from uuid import UUID

import pytest
from django.db import connection

from orbit.errors import Refusal
from tasks_app.actions.reap_leases import reap_leases
from tasks_app.domain.access import Actor, ActorKind
from tasks_app.models import Task
from tests.builders import approved, proposed, withdrawn
from tests.tasks_app.contested.arena import Arena, held_before, waiting_for_a_lock
from tests.tasks_app.contested.builders import (
    a_place,
    count_of,
    let_lease_run_out,
    reasons,
    success,
    the,
)
from tests.tasks_app.contested.invariants import assert_invariants

pytestmark = pytest.mark.django_db(transaction=True)

ROUNDS = 40
ADA = Actor(id=UUID(int=7), kind=ActorKind.USER)
GRACE = Actor(id=UUID(int=8), kind=ActorKind.USER)
MARY = Actor(id=UUID(int=9), kind=ActorKind.USER)


def proposals(place, count=ROUNDS):
    """Open proposals by Ada, each of a task of its own."""
    ids = place.in_review(count)
    return [proposed(it, actor=ADA).proposal for it in Task.objects.filter(id__in=ids)]


def decisions(proposal):
    return count_of("tasks_review_decision", "proposal_id = %s", proposal.id)


def test_of_two_approvals_one_settles_the_task():
    with Arena(2) as arena:
        for it in proposals(a_place()):
            answers = arena.race(
                lambda p=it: approved(p, actor=GRACE),
                lambda p=it: approved(p, actor=MARY),
            )
            lost = [answer for answer in answers if isinstance(answer, Refusal)]
            [won] = [answer for answer in answers if not isinstance(answer, Refusal)]
            assert reasons(lost) == ["PROPOSAL_APPROVED"]
            assert lost[0].details["audit_id"] == won.audit_id
            assert decisions(it) == 1
            assert_invariants(connection, these=[it.task_id])


def test_approval_and_review_race_and_one_settles():
    place = a_place()
    seen = set()
    with Arena(2) as arena:
        for it in proposals(place):
            by_two, by_one = arena.race(
                lambda p=it: approved(p, actor=GRACE),
                lambda p=it: place.review(p.task_id, outcome="SUCCEEDED"),
            )
            state, revision = the(it.task_id, "state", "revision")
            assert revision == 4
            if state == "FAILED":
                assert reasons([by_one]) == ["STATE"]
            else:
                assert reasons([by_two]) == ["PROPOSAL_SUPERSEDED"]
            seen.add(state)
            assert_invariants(connection, these=[it.task_id])
    assert seen <= {"FAILED", "SUCCEEDED"}


def test_approval_and_withdrawal_race_and_one_decides():
    with Arena(2) as arena:
        for it in proposals(a_place()):
            approval, withdrawal = arena.race(
                lambda p=it: approved(p, actor=GRACE),
                lambda p=it: withdrawn(p, actor=ADA),
            )
            if the(it.task_id, "state") == "FAILED":
                assert reasons([withdrawal]) in (
                    ["PROPOSAL_APPROVED"],
                    ["PROPOSAL_SUPERSEDED"],
                )
            else:
                assert reasons([approval]) == ["PROPOSAL_WITHDRAWN"]
            assert decisions(it) == 1
            assert_invariants(connection, these=[it.task_id])


def test_an_approval_that_waited_past_the_end_of_its_time_is_too_late():
    place = a_place()
    [it] = proposals(place, 1)
    with (
        held_before(
            "tasks_review_proposal", lambda: approved(it, actor=GRACE)
        ) as first,
        waiting_for_a_lock(lambda: approved(it, actor=MARY)) as second,
    ):
        with connection.cursor() as cursor:
            cursor.execute("SET session_replication_role = replica")
            cursor.execute(
                "UPDATE tasks_review_proposal SET expires_at = created_at"
                " WHERE id = %s",
                [it.id],
            )
            cursor.execute("SET session_replication_role = origin")
        answers = [first.go_on(), second.go_on()]
    assert reasons(answers) == ["PROPOSAL_EXPIRED", "PROPOSAL_EXPIRED"]
    assert the(it.task_id, "state") == "NEEDS_REVIEW"
    assert_invariants(connection)


def test_approval_and_late_report_race_and_the_report_is_only_evidence():
    place = a_place()
    leased = place.running(ROUNDS)
    let_lease_run_out(*leased)
    assert reap_leases(limit=ROUNDS) == ROUNDS
    with Arena(2) as arena:
        for entry in leased:
            task = Task.objects.get(id=entry.task.id)
            first = proposed(task, actor=ADA).proposal
            approval, report = arena.race(
                lambda p=first: approved(p, actor=GRACE),
                lambda e=entry: place.report(success(e)),
            )
            assert (approval.task.state, reasons([report])) == ("FAILED", ["LEASE"])
            assert count_of("tasks_evidence", "task_id = %s", task.id) == 1
            assert_invariants(connection, these=[task.id])


def test_two_proposals_race_and_one_is_open():
    place = a_place()
    with Arena(2) as arena:
        for task in Task.objects.filter(id__in=place.in_review(ROUNDS)):
            answers = arena.race(
                lambda t=task: proposed(t, actor=ADA),
                lambda t=task: proposed(t, actor=GRACE),
            )
            lost = [answer for answer in answers if isinstance(answer, Refusal)]
            assert reasons(lost) == ["PROPOSED"]
            assert_invariants(connection, these=[task.id])
