"""django-q2 with its Redis broker."""

import os
import sys

import django
from django.core.management import call_command

os.environ["DJANGO_SETTINGS_MODULE"] = "bench.peers.django_settings"
django.setup()

from django_q.tasks import async_task  # noqa: E402 (needs the apps)

if __name__ == "__main__":
    if sys.argv[1] == "fill":
        call_command("migrate", verbosity=0)
        for _ in range(int(sys.argv[2])):
            async_task("bench.peers.django_noop.plain")
    else:
        call_command("qcluster")
