"""How soon an attempt may follow another."""

import pytest

from tasks_app.domain.retry_policy import RetryPolicy


def a_policy(**changes):
    wanted = {
        "max_attempts": 100,
        "initial_delay_ms": 100,
        "max_delay_ms": 1_000,
        "attempt_timeout_ms": 1,
    }
    return RetryPolicy(**{**wanted, **changes})


def test_the_pause_doubles_up_to_the_maximum():
    policy = a_policy()

    assert [policy.delay_ms(made) for made in range(7)] == [
        0,
        100,
        200,
        400,
        800,
        1_000,
        1_000,
    ]


def test_without_an_initial_pause_there_is_none_at_all():
    policy = a_policy(initial_delay_ms=0)

    assert [policy.delay_ms(made) for made in (1, 2, 99)] == [0, 0, 0]


def test_a_maximum_equal_to_the_initial_pause_keeps_it_constant():
    policy = a_policy(max_delay_ms=100)

    assert {policy.delay_ms(made) for made in range(1, 100)} == {100}


@pytest.mark.parametrize("made", [33, 34, 100, 10_000])
def test_many_attempts_do_not_overflow(made):
    month = 2_592_000_000
    policy = a_policy(initial_delay_ms=month, max_delay_ms=month)

    assert policy.delay_ms(made) == month
