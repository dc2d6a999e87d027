"""Reviews, retries and cancels that meet each other, or a worker."""

import pytest
from django.db import connection

from orbit.errors import Refusal
from tasks_app.actions.reap_leases import reap_leases
from tasks_app.api.shapes import task_shape
from tasks_app.models.grounds import grounds_from, task_with_grounds
from tests.tasks_app.contested.arena import Arena, held_before, waiting_for_a_lock
from tests.tasks_app.contested.builders import (
    a_place,
    count_of,
    let_lease_run_out,
    reasons,
    stopped,
    success,
    the,
)
from tests.tasks_app.contested.invariants import assert_invariants

pytestmark = pytest.mark.django_db(transaction=True)

ROUNDS = 200


def outcome_of(answers):
    """The successes and the refusals of a round."""
    return (
        [answer for answer in answers if not isinstance(answer, Refusal)],
        [answer for answer in answers if isinstance(answer, Refusal)],
    )


def digest_of(task_id):
    """The digest of the task's dossier, as it is now."""
    task, columns = task_with_grounds(task_id)
    return grounds_from(task, columns, does_owner_agree=True).digest


def test_two_reviews_of_one_key_are_one_review():
    place = a_place()
    with Arena(2) as arena:
        for task_id in place.in_review(ROUNDS):
            answers = arena.race(*[lambda i=task_id: place.review(i, key=i.hex)] * 2)
            assert sorted(it.deduplicated for it in answers) == [False, True]
            assert len({it.audit_id for it in answers}) == 1
            assert answers[0].task == answers[1].task
            assert_invariants(connection, these=[task_id])
    assert_invariants(connection)


def test_two_reviews_of_two_keys_have_one_winner_whom_the_loser_hears_of():
    place = a_place()
    with Arena(2) as arena:
        for task_id in place.in_review(ROUNDS):
            won, lost = outcome_of(
                arena.race(
                    lambda i=task_id: place.review(i, outcome="SUCCEEDED"),
                    lambda i=task_id: place.review(i, outcome="FAILED"),
                )
            )
            assert (len(won), reasons(lost)) == (1, ["STATE"])
            assert lost[0].details["audit_id"] == won[0].audit_id
            assert the(task_id, "state", "revision") == (won[0].task.state, 4)
            assert_invariants(connection, these=[task_id])
    assert_invariants(connection)


def test_two_retries_of_one_key_are_one_retry():
    place = a_place()
    with Arena(2) as arena:
        for task_id in place.failed(ROUNDS):
            answers = arena.race(*[lambda i=task_id: place.retry(i, key=i.hex)] * 2)
            assert sorted(it.deduplicated for it in answers) == [False, True]
            assert len({(it.audit_id, it.task.id) for it in answers}) == 1
            assert_invariants(connection, these=[task_id])
    assert count_of("tasks_task", "retry_of IS NOT NULL") == ROUNDS
    assert_invariants(connection)


def test_two_retries_of_two_keys_have_one_child_that_the_loser_hears_of():
    place = a_place()
    with Arena(2) as arena:
        for task_id in place.failed(ROUNDS):
            before = the(task_id, "*")
            won, lost = outcome_of(arena.race(*[lambda i=task_id: place.retry(i)] * 2))
            assert (len(won), reasons(lost)) == (1, ["ALREADY_RETRIED"])
            assert lost[0].details["successor_task_id"] == won[0].task.id
            assert lost[0].details["audit_id"] == won[0].audit_id
            assert the(task_id, "*") == before
            assert_invariants(connection, these=[task_id])
    assert count_of("tasks_task", "retry_of IS NOT NULL") == ROUNDS
    assert_invariants(connection)


@pytest.mark.parametrize("act", ["review", "retry"])
def test_loser_of_a_key_waits_for_the_winner_and_gets_its_receipt(act):
    place = a_place()
    [task_id] = place.in_review() if act == "review" else place.failed()
    write = getattr(place, act)
    with (
        held_before("receipt AS", lambda: write(task_id, key="one")) as winner,
        waiting_for_a_lock(lambda: write(task_id, key="one")) as loser,
    ):
        first = winner.go_on()
        second = loser.go_on()
    assert (first.deduplicated, second.deduplicated) == (False, True)
    assert (second.task, second.audit_id) == (first.task, first.audit_id)
    assert_invariants(connection)


def test_claim_and_cancel_race_for_a_waiting_task():
    place = a_place()
    with Arena(2) as arena:
        for _ in range(ROUNDS):
            [task_id] = place.waiting()
            claimed, cancelled = arena.race(
                place.claim, lambda i=task_id: place.cancel(i)
            )
            state, requested_at = the(task_id, "state", "cancel_requested_at")
            if claimed:
                assert (state, requested_at is not None) == ("RUNNING", True)
                assert place.renew(claimed[0]).cancel_requested
                assert place.report(stopped(claimed[0])).state == "CANCELLED"
            else:
                assert (state, cancelled.task.state) == ("CANCELLED", "CANCELLED")
            assert_invariants(connection, these=[task_id])
    assert_invariants(connection)


def test_cancel_and_report_race_and_a_result_is_never_lost():
    place = a_place()
    with Arena(2) as arena:
        for entry in place.running(ROUNDS):
            cancelled, reported = arena.race(
                lambda e=entry: place.cancel(e.task.id),
                lambda e=entry: place.report(success(e)),
            )
            assert reported.state == "SUCCEEDED"
            assert reasons([cancelled]) in ([None], ["STATE"])
            assert the(entry.task.id, "state", "revision") == ("SUCCEEDED", 3)
            assert_invariants(connection, these=[entry.task.id])
    assert_invariants(connection)


def test_two_cancels_have_one_that_asked():
    place = a_place()
    with Arena(2) as arena:
        for entry in place.running(ROUNDS // 2):
            won, lost = outcome_of(
                arena.race(*[lambda e=entry: place.cancel(e.task.id)] * 2)
            )
            assert (len(won), reasons(lost)) == (1, ["STATE"])
            assert lost[0].details["audit_id"] == won[0].audit_id
            assert_invariants(connection, these=[entry.task.id])
    assert_invariants(connection)


def test_review_and_late_report_race_and_the_report_is_only_evidence():
    place = a_place(max_concurrency=1_000)
    leased = place.running(ROUNDS)
    let_lease_run_out(*leased)
    assert reap_leases(limit=ROUNDS) == ROUNDS
    with Arena(2) as arena:
        for entry in leased:
            reviewed, reported = arena.race(
                lambda e=entry: place.review(e.task.id, outcome="FAILED"),
                lambda e=entry: place.report(success(e)),
            )
            assert (reviewed.task.state, reasons([reported])) == ("FAILED", ["LEASE"])
            assert the(entry.task.id, "state", "revision") == ("FAILED", 4)
            assert count_of("tasks_evidence", "task_id = %s", entry.task.id) == 1
            assert_invariants(connection, these=[entry.task.id])
    assert_invariants(connection)


def test_review_of_a_dossier_and_late_report_race_and_neither_misses_the_other():
    place = a_place()
    leased = place.running(ROUNDS)
    let_lease_run_out(*leased)
    assert reap_leases(limit=ROUNDS) == ROUNDS
    digests = {entry.task.id: digest_of(entry.task.id) for entry in leased}
    with Arena(2) as arena:
        for entry in leased:
            task_id = entry.task.id
            reviewed, reported = arena.race(
                lambda i=task_id: place.review(i, outcome="FAILED", digest=digests[i]),
                lambda e=entry: place.report(success(e)),
            )
            assert reasons([reported]) == ["LEASE"]
            contradictions = count_of("tasks_contradiction", "task_id = %s", task_id)
            if not isinstance(reviewed, Refusal):
                assert (the(task_id, "state"), contradictions) == ("FAILED", 1)
            else:
                assert reasons([reviewed]) == ["DOSSIER_CHANGED"]
                assert reviewed.details["new_evidence_count"] == 1
                assert (the(task_id, "state"), contradictions) == ("NEEDS_REVIEW", 0)
            assert_invariants(connection, these=[task_id])
    assert_invariants(connection)


@pytest.mark.parametrize("is_review_first", [True, False])
def test_whoever_comes_second_waits_for_the_first_and_sees_what_it_did(is_review_first):
    place = a_place()
    [entry] = place.running()
    let_lease_run_out(entry)
    assert reap_leases(limit=1) == 1
    task_id = entry.task.id
    digest = digest_of(task_id)

    def review():
        return place.review(task_id, outcome="FAILED", digest=digest)

    def report():
        return place.report(success(entry))

    first, second = (review, report) if is_review_first else (report, review)
    text = "receipt AS" if is_review_first else "INSERT INTO tasks_evidence"
    with (
        held_before(text, first) as winner,
        waiting_for_a_lock(second) as loser,
    ):
        winner.go_on()
        answer = loser.go_on()

    if is_review_first:
        assert count_of("tasks_contradiction", "task_id = %s", task_id) == 1
        assert the(task_id, "state", "revision") == ("FAILED", 4)
    else:
        assert reasons([answer]) == ["DOSSIER_CHANGED"]
        assert the(task_id, "state", "revision") == ("NEEDS_REVIEW", 3)
    assert_invariants(connection)


def test_same_late_report_from_two_connections_is_one_piece_of_evidence():
    place = a_place()
    leased = place.running(ROUNDS // 2)
    let_lease_run_out(*leased)
    assert reap_leases(limit=ROUNDS) == len(leased)
    with Arena(2) as arena:
        for entry in leased:
            answers = arena.race(*[lambda e=entry: place.report(success(e))] * 2)
            assert reasons(answers) == ["LEASE", "LEASE"]
            assert count_of("tasks_evidence", "task_id = %s", entry.task.id) == 1
    assert_invariants(connection)


def test_replayed_receipt_knows_nothing_of_what_came_later():
    place = a_place()
    submission = place.submission()
    [first] = place.submit([submission])
    [entry] = place.claim()
    asked = place.cancel(entry.task.id, key="one")
    let_lease_run_out(entry)
    assert reap_leases(limit=1) == 1
    [again] = place.submit([submission])
    assert task_shape(again.task) == task_shape(first.task)
    still_asked = place.cancel(entry.task.id, key="one")
    assert task_shape(still_asked.task) == task_shape(asked.task)
