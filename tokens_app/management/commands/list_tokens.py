"""List the tokens on the command line."""

import json
from argparse import ArgumentParser
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from orbit import clock
from tokens_app import queries
from tokens_app.management.token_command import TokenCommand
from tokens_app.models import ServiceAccountToken

COLUMNS = ("prefix", "status", "expires_at", "last_used_at", "name", "scopes")


class Command(TokenCommand):
    """`manage.py list_tokens [--json]`"""  # noqa: D400 - a command line

    help = "List every token, newest first; never a secret or a digest."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="Print JSON.")

    def run(self, options: Mapping[str, Any]) -> None:
        now = clock.now()
        rows = [describe(token, now=now) for token in queries.tokens_by_age()]
        if options["json"]:
            self.stdout.write(json.dumps(rows))
            return
        lines = [tuple(str(row[name] or "-") for name in COLUMNS) for row in rows]
        table = [COLUMNS, *lines]
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        for cells in table:
            line = "  ".join(map(str.ljust, cells, widths))
            self.stdout.write(line.rstrip())


def describe(token: ServiceAccountToken, *, now: datetime) -> dict[str, object]:
    """What may be shown of a token, JSON-ready."""
    used = token.last_used_at
    return {
        "prefix": token.display_prefix,
        "key_id": token.key_id,
        "name": token.name,
        "audience": token.audience,
        "status": token.status_at(now),
        "scopes": token.scopes,
        "namespace_id": token.namespace_id.hex,
        "queue_ids": token.queue_ids,
        "job_ids": token.job_ids,
        "job_groups": token.job_groups,
        "expires_at": token.expires_at.isoformat(timespec="seconds"),
        "last_used_at": used.isoformat(timespec="seconds") if used else None,
    }
