"""`manage.py preparestack`: brings a database to where a stack can run on it."""

import io
import json
import os
import time
from pathlib import Path
from typing import Any
from uuid import UUID

from django.apps import apps
from django.contrib.auth import get_user_model
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandParser

ADMIN = "admin"
GOOD_FOR = 60 * 86_400  # seconds; the tokens of init_dev live for 90 days


class Command(BaseCommand):
    """One process for four commands: each start of Django takes a second."""

    help = "Migrate, provide the administrator and the demo data; used by runstack."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--demo-file", type=Path)

    def handle(self, *_args: object, **options: object) -> None:
        call_command("migrate", interactive=False, verbosity=0)
        self.provide_administrator(os.environ["ORBIT_ADMIN_PASSWORD"])
        file = options["demo_file"]
        if isinstance(file, Path) and not self.is_known(file):
            self.make_demo(file)

    def provide_administrator(self, password: str) -> None:
        """A superuser with this password; one that exists keeps its own."""
        users = get_user_model()
        known = users.objects.filter(username=ADMIN).first()
        if known is None:
            users.objects.create_superuser(username=ADMIN, password=password)
        elif not known.check_password(password):
            self.stderr.write(f"{ADMIN} exists already and keeps its other password")

    def is_known(self, file: Path) -> bool:
        """Whether its tokens are still good and this database is the one it means."""
        if not file.exists() or time.time() - file.stat().st_mtime > GOOD_FOR:
            return False
        namespace_id = UUID(json.loads(file.read_text())["namespace_id"])
        namespaces = apps.get_model("tasks_app", "Namespace")
        return bool(namespaces.objects.filter(pk=namespace_id).exists())

    def make_demo(self, file: Path) -> None:
        """Make the data and keep what only this moment knows: the tokens' text."""
        demo = self.told("init_dev", recovery_access=True)
        jobs = self.told("init_jobs", queue_id=demo["queue_id"])
        demo["tokens"] |= jobs["tokens"]
        demo["jobs"] = jobs["jobs"]
        file.touch(mode=0o600)
        file.write_text(json.dumps(demo))

    def told(self, command: str, **options: object) -> dict[str, Any]:
        """The JSON object that a command prints."""
        output = io.StringIO()
        call_command(command, json=True, stdout=output, **options)
        found: dict[str, Any] = json.loads(output.getvalue())
        return found
