"""Hypothesis profiles: `pytest --hypothesis-profile soak tests/tasks_app/model`."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "soak",
    max_examples=20_000,
    stateful_step_count=100,
    deadline=None,
    print_blob=True,
    suppress_health_check=list(HealthCheck),
)
