"""django-tasks with its database backend."""

import os
import sys

import django
from django.core.management import call_command
from django.db import transaction

os.environ["DJANGO_SETTINGS_MODULE"] = "bench.peers.django_settings"
django.setup()

from bench.peers.django_noop import noop  # noqa: E402 (needs the apps)

if __name__ == "__main__":
    if sys.argv[1] == "fill":
        call_command("migrate", verbosity=0)
        with transaction.atomic():
            for _ in range(int(sys.argv[2])):
                noop.enqueue()
    else:
        call_command("db_worker", "--no-startup-delay", "--interval", "0")
