"""Runs the model; `--hypothesis-profile soak` runs it for hours."""

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.tasks_app.model.machine import Engine

SUITE = settings(
    max_examples=25,
    stateful_step_count=30,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)


@pytest.mark.django_db(transaction=True)
def test_engine_does_what_the_model_says_in_any_order_of_acts():
    is_soak = settings.get_current_profile_name() == "soak"
    run_state_machine_as_test(Engine, settings=settings() if is_soak else SUITE)
