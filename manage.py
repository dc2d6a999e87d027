#!/usr/bin/env python
"""Django's command line for Orbit."""

import os
import sys

import orbit  # noqa: F401 - before all others, for a quicker start

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "orbit.settings")
    if sys.argv[1:2] == ["runstack"]:
        # It makes the secrets and servers that the settings ask for.
        from orbit.stack import run

        sys.exit(run.main(sys.argv[2:]))
    from django.core.management import execute_from_command_line

    execute_from_command_line(sys.argv)
