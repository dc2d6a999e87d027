"""`manage.py runstack`: everything of Orbit on this machine, until Ctrl-C."""

import sys
from argparse import Namespace

from django.core.management.base import BaseCommand, CommandParser

from orbit.stack import run


class Command(BaseCommand):
    """Listed here for `manage.py help`; manage.py itself starts it without settings."""

    help = "Run everything on this machine: servers, migrations, demo, web and workers."
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        run.add_arguments(parser)

    def handle(self, *_args: object, **options: object) -> None:
        sys.exit(run.run(run.Options.parsed(Namespace(**options))))
