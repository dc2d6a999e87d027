"""The reaper against everybody who may hold the same lease."""

import pytest
from django.db import connection

from orbit.errors import Refusal
from tasks_app.actions.reap_leases import reap_leases
from tests.tasks_app.contested.arena import Arena, held_before, waiting_for_a_lock
from tests.tasks_app.contested.builders import (
    a_place,
    count_of,
    failure,
    let_lease_run_out,
    reasons,
    success,
    the,
)
from tests.tasks_app.contested.invariants import assert_invariants

pytestmark = pytest.mark.django_db(transaction=True)

ROUNDS = 200


def reap():
    return reap_leases(limit=10)


def test_reaper_and_report_race_and_the_first_to_commit_decides():
    place = a_place(max_concurrency=1_000, key_concurrency=1_000)
    seen = set()
    with Arena(2) as arena:
        for entry in place.running(ROUNDS, concurrency_key="account-1"):
            let_lease_run_out(entry)
            reaped, reported = arena.race(
                reap, lambda e=entry: place.report(success(e))
            )
            state, revision = the(entry.task.id, "state", "revision")
            assert revision == 3
            if reaped:
                assert (state, reasons([reported])) == ("NEEDS_REVIEW", ["LEASE"])
                assert count_of("tasks_evidence", "task_id = %s", entry.task.id) == 1
            else:
                assert (state, reported.state) == ("SUCCEEDED", "SUCCEEDED")
                assert count_of("tasks_evidence", "task_id = %s", entry.task.id) == 0
            seen.add(state)
            assert_invariants(connection, these=[entry.task.id])
    assert_invariants(connection)
    assert count_of("tasks_permit") == 0
    assert seen <= {"SUCCEEDED", "NEEDS_REVIEW"}


def test_report_that_comes_while_the_reaper_writes_waits_and_becomes_evidence():
    place = a_place()
    [entry] = place.running()
    let_lease_run_out(entry)
    with (
        held_before("moved AS", reap) as reaper,
        waiting_for_a_lock(lambda: place.report(success(entry))) as report,
    ):
        assert reaper.go_on() == 1
        assert reasons([report.go_on()]) == ["LEASE"]
    assert the(entry.task.id, "state", "revision") == ("NEEDS_REVIEW", 3)
    assert count_of("tasks_evidence") == 1
    assert_invariants(connection)


def test_reaper_that_comes_while_a_report_writes_passes_it_over():
    place = a_place()
    [entry] = place.running()
    let_lease_run_out(entry)
    with held_before("moved AS", lambda: place.report(success(entry))) as report:
        assert reap() == 0
        assert report.go_on().state == "SUCCEEDED"
    assert reap() == 0
    assert the(entry.task.id, "state", "revision") == ("SUCCEEDED", 3)
    assert_invariants(connection)


def test_reaper_that_chose_before_the_fence_moved_changes_nothing():
    place = a_place()
    [entry] = place.running(retry={"max_attempts": 3})
    let_lease_run_out(entry)
    with held_before("LIMIT", reap) as reaper:
        assert place.report(failure(entry, is_retryable=True)).state == "WAITING"
        [second] = place.claim()
        assert reaper.go_on() == 0
    state, seq = the(entry.task.id, "state", "lease_seq")
    assert (state, seq) == ("RUNNING", 2)
    assert place.report(success(second)).state == "SUCCEEDED"
    assert_invariants(connection)


def test_two_reapers_share_the_lost_leases_and_none_is_reaped_twice():
    place = a_place()
    leased = place.running(
        ROUNDS * 4, recovery_safety="REPLAY_SAFE", retry={"max_attempts": 2}
    )
    with Arena(2) as arena:
        for start in range(0, len(leased), 4):
            lost = leased[start : start + 4]
            let_lease_run_out(*lost)
            counts = arena.race(reap, reap)
            counts.append(reap())
            assert sum(counts) == 4, counts
            assert_invariants(connection, these=[entry.task.id for entry in lost])
    assert count_of("tasks_task", "state = 'WAITING' AND revision = 3") == len(leased)
    assert_invariants(connection)


def test_second_reaper_with_the_same_list_gets_no_rows():
    place = a_place()
    leased = place.running(5, recovery_safety="REPLAY_SAFE", retry={"max_attempts": 2})
    let_lease_run_out(*leased)
    with held_before("moved AS", reap) as first:
        assert reap() == 0
        assert first.go_on() == 5
    assert reap() == 0
    assert len(place.claim(10)) == 5
    assert_invariants(connection)


def test_heartbeat_and_reaper_race_and_a_renewed_lease_is_never_reaped():
    place = a_place()
    with Arena(2) as arena:
        for entry in place.running(ROUNDS):
            let_lease_run_out(entry)
            renewed, reaped = arena.race(lambda e=entry: place.renew(e), reap)
            state = the(entry.task.id, "state")
            if isinstance(renewed, Refusal):
                assert (reaped, state) == (1, "NEEDS_REVIEW")
            else:
                assert (reaped, state) == (0, "RUNNING")
            assert_invariants(connection, these=[entry.task.id])
    assert_invariants(connection)


def test_heartbeat_that_comes_while_the_reaper_writes_learns_that_it_lost():
    place = a_place()
    [entry] = place.running()
    let_lease_run_out(entry)
    with (
        held_before("moved AS", reap) as reaper,
        waiting_for_a_lock(lambda: place.renew(entry)) as heartbeat,
    ):
        assert reaper.go_on() == 1
        assert reasons([heartbeat.go_on()]) == ["LEASE"]
    assert_invariants(connection)


def test_late_success_after_a_review_that_failed_is_told_once_and_changes_nothing():
    place = a_place()
    [entry] = place.running()
    let_lease_run_out(entry)
    assert reap() == 1
    place.review(entry.task.id, outcome="FAILED")
    events = count_of("outbox_result_event")
    assert reasons([place.report(success(entry))] * 2) == ["LEASE"] * 2
    assert reasons([place.report(success(entry))]) == ["LEASE"]
    assert the(entry.task.id, "state", "revision") == ("FAILED", 4)
    assert count_of("tasks_evidence") == 1
    assert count_of("tasks_contradiction") == 1
    assert count_of("outbox_result_event") == events + 1
    assert count_of("tasks_attempt", "outcome = 'UNKNOWN'") == 1
    assert_invariants(connection)


def test_late_report_releases_no_permit_of_the_next_holder():
    place = a_place(key_concurrency=1)
    [entry] = place.running(concurrency_key="account-1")
    place.waiting(concurrency_key="account-1")
    let_lease_run_out(entry)
    assert place.claim() == []
    assert reap() == 1
    [_] = place.claim()
    assert reasons([place.report(success(entry))]) == ["LEASE"]
    assert count_of("tasks_permit") == 1
    place.waiting(concurrency_key="account-1")
    assert place.claim() == []
    assert_invariants(connection)
