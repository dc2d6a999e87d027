#!/usr/bin/env python
"""Django's command line for Orbit."""

import os
import sys

from django.core.management import execute_from_command_line

from orbit.stack import run

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "orbit.settings")
    if sys.argv[1:2] == ["runstack"]:
        # It makes the secrets and servers that the settings ask for.
        sys.exit(run.main(sys.argv[2:]))
    execute_from_command_line(sys.argv)
