"""Submissions that meet at a limit, at a key, or in batches."""

import pytest
from django.db import connection

from orbit.errors import Refusal
from tasks_app.domain.errors import ApplicationFull, QueueFull
from tests.live import eventually
from tests.tasks_app.contested.arena import (
    Arena,
    acting,
    held_after,
    lock_waits,
    waiting_for_a_lock,
)
from tests.tasks_app.contested.builders import a_place, count_of, reasons, success
from tests.tasks_app.contested.invariants import assert_invariants

pytestmark = pytest.mark.django_db(transaction=True)

ROUNDS = 100
CROWD = 20


def accepted(answers):
    """The answers that are no refusal."""
    return [answer for answer in answers if not isinstance(answer, Refusal)]


@pytest.mark.parametrize("scope", ["max_outstanding", "application_outstanding"])
def test_limit_is_met_exactly_and_never_exceeded_by_one(scope):
    limit = 37
    place = a_place(**{scope: limit})
    full = QueueFull if scope == "max_outstanding" else ApplicationFull
    with Arena(CROWD) as arena:
        for _ in range(3):
            answers = arena.race(
                *[lambda: place.submit([place.submission()])[0]] * CROWD
            )
            assert all(
                isinstance(answer, full)
                for answer in answers
                if isinstance(answer, Refusal)
            )
            assert count_of("tasks_task") <= limit
            assert_invariants(connection)
    assert count_of("tasks_task") == limit


def test_last_unit_is_had_by_one_whoever_gives_it_back_meanwhile():
    place = a_place(max_outstanding=4)
    place.waiting(4)
    with Arena(4) as arena:
        for _ in range(ROUNDS):
            [entry] = place.claim()
            answers = arena.race(
                lambda e=entry: place.report(success(e)),
                *[lambda: place.submit([place.submission()])[0]] * 3,
            )
            assert answers[0].state == "SUCCEEDED"
            assert len(accepted(answers[1:])) <= 1
            if not accepted(answers[1:]):
                place.waiting()
            assert count_of("tasks_task", "state IN ('WAITING', 'RUNNING')") == 4
            assert_invariants(connection, these=[entry.task.id])
    assert_invariants(connection)


def test_one_key_from_many_connections_is_one_task():
    place = a_place()
    with Arena(4) as arena:
        for number in range(ROUNDS):
            [*answers] = arena.race(
                *[lambda n=number: place.submit([place.submission(key=f"k-{n}")])[0]]
                * 4
            )
            assert sorted(it.deduplicated for it in answers) == [False] + [True] * 3
            assert len({it.task for it in answers}) == 1
            assert_invariants(connection, these=[answers[0].task.id])
    assert count_of("tasks_task") == ROUNDS
    assert_invariants(connection)


def test_one_key_with_two_contents_is_one_task_and_one_conflict():
    place = a_place()
    with Arena(2) as arena:
        for number in range(ROUNDS):
            answers = arena.race(
                *[
                    lambda n=number, p=payload: place.submit(
                        [place.submission(key=f"k-{n}", payload=p)]
                    )[0]
                    for payload in (b"1", b"2")
                ]
            )
            assert sorted(map(str, reasons(answers))) == [
                "IDEMPOTENCY_CONFLICT",
                "None",
            ]
    assert count_of("tasks_task") == ROUNDS
    assert_invariants(connection)


def test_loser_of_a_key_waits_for_the_winner_even_at_the_limit():
    place = a_place(max_outstanding=1)

    def submit():
        return place.submit([place.submission(key="one")])[0]

    with (
        held_after("receipt AS", submit) as winner,
        waiting_for_a_lock(submit) as loser,
    ):
        first = winner.go_on()
        second = loser.go_on()
    assert (first.deduplicated, second.deduplicated) == (False, True)
    assert second.task == first.task
    assert reasons(place.submit([place.submission()])) == ["QUEUE_FULL"]
    assert_invariants(connection)


def test_batches_with_the_same_keys_in_opposite_order_are_one_set_of_tasks():
    place = a_place()

    def batch(keys):
        return place.submit([place.submission(key=key) for key in keys])

    with Arena(2) as arena:
        for number in range(ROUNDS):
            keys = [f"{number}-{n}" for n in range(12)]
            forward, backward = arena.race(
                lambda k=keys: batch(k[:9]), lambda k=keys: batch(k[:2:-1])
            )
            assert not [it for it in forward + backward if isinstance(it, Refusal)]
            shared = {it.task.id for it in forward} & {it.task.id for it in backward}
            assert len(shared) == 6
            assert_invariants(connection, these=shared)
    assert count_of("tasks_task") == ROUNDS * 12
    assert_invariants(connection)


def test_crowd_that_takes_single_keys_of_a_batch_never_drives_it_out():
    place = a_place()

    def nibble(keys):
        return [place.submit([place.submission(key=key)])[0] for key in keys]

    with Arena(8) as arena:
        for number in range(5):
            keys = [f"{number}-{n}" for n in range(60)]
            crowd = [keys[n::2] + keys[:n] for n in range(6)]
            answers = arena.race(
                lambda k=keys: place.submit([place.submission(key=it) for it in k]),
                lambda k=keys: place.submit(
                    [place.submission(key=it) for it in reversed(k)]
                ),
                *[lambda k=some: nibble(k) for some in crowd],
            )
            assert not [it for one in answers for it in one if isinstance(it, Refusal)]
            assert len({it.task.id for one in answers for it in one}) == len(keys)
    assert count_of("tasks_task") == 300
    assert_invariants(connection)


def test_batch_that_loses_a_key_at_every_look_gets_its_answer_all_the_same():
    place = a_place()
    keys = [f"key-{n}" for n in range(8)]
    taken = iter(keys)
    takers = []

    def lose_a_key(execute, sql, params, many, context):
        looked = execute(sql, params, many, context)
        if "r.key_digest = ANY" in str(sql) and (key := next(taken, None)):
            taker = acting(lambda: place.submit([place.submission(key=key)]))
            eventually(lambda: taker.done() or lock_waits())
            takers.append(taker)
        return looked

    with connection.execute_wrapper(lose_a_key):
        answers = place.submit([place.submission(key=key) for key in keys])
    answers += [answer for taker in takers for answer in taker.result()]
    assert not [it for it in answers if isinstance(it, Refusal)]
    assert len({it.task.id for it in answers}) == len(keys)
    assert_invariants(connection)


def test_report_batches_in_opposite_order_do_not_wait_for_each_other():
    place = a_place()
    with Arena(2) as arena:
        for _ in range(ROUNDS):
            leased = place.running(6)
            reports = [success(entry) for entry in leased]
            forward, backward = arena.race(
                lambda r=reports: place.report_all(r),
                lambda r=reports: place.report_all(r[::-1]),
            )
            assert {it.state for it in forward + backward} == {"SUCCEEDED"}
            assert_invariants(connection, these=[it.task.id for it in leased])
    assert_invariants(connection)
