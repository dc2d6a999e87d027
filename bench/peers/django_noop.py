"""The task that Django's task frameworks run."""

from django_tasks import task

from bench.ticks import tick


@task()
def noop() -> None:
    """Do nothing."""
    tick()


def plain() -> None:
    """Do nothing, for django-q2, which takes any function."""
    tick()
