"""The Celery application: `celery -A orbit worker`, `celery -A orbit beat`.

Entry points live in each app's `workers`; a Task is an Orbit task here, not Celery's.
"""

import os

from celery import Celery
from celery.signals import setup_logging

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "orbit.settings")

app = Celery("orbit")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(related_name="workers")


@setup_logging.connect
def keep_orbits_logging(**_signal: object) -> None:
    """Celery leaves logging alone once somebody answers this signal."""
