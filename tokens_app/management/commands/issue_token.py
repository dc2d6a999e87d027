"""Issue a token from the command line and print its plain text once."""

import json
from argparse import ArgumentParser
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from tokens_app.actions.issue_token import issue_token
from tokens_app.domain.grant import TokenGrant
from tokens_app.domain.scope import AUDIENCES
from tokens_app.management.token_command import TokenCommand, read_uuid


class Command(TokenCommand):
    """`manage.py issue_token --name … --audience TASKS --scopes tasks:read …`"""  # noqa: D400 - a command line

    help = "Issue a service-account token. Its plain text is printed once."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--name", required=True, help="The caller's name.")
        parser.add_argument("--audience", required=True, choices=AUDIENCES)
        parser.add_argument(
            "--scopes", required=True, nargs="+", help="For example: tasks:read."
        )
        parser.add_argument("--namespace", required=True, type=read_uuid)
        parser.add_argument("--application", type=read_uuid)
        for option, what in (
            ("--queue", "A queue the token may reach (TASKS); repeat for more."),
            ("--job", "A job the token may reach (OPEN_JOBS); repeat for more."),
        ):
            parser.add_argument(
                option, action="append", default=[], type=read_uuid, help=what
            )
        parser.add_argument(
            "--group",
            action="append",
            default=[],
            help="A job group the token may reach (OPEN_JOBS); repeat for more.",
        )
        parser.add_argument("--description", default="")
        parser.add_argument("--contact", default="", help="Who answers for the caller.")
        parser.add_argument(
            "--days", required=True, type=int, help="Days until expiry."
        )
        parser.add_argument("--json", action="store_true", help="Print JSON.")

    def run(self, options: Mapping[str, Any]) -> None:
        grant = TokenGrant(
            name=options["name"],
            audience=options["audience"],
            namespace_id=options["namespace"],
            application_id=options["application"],
            scopes=" ".join(options["scopes"]).split(),
            expires=read_days(options["days"]),
            queue_ids=tuple(options["queue"]),
            job_ids=tuple(options["job"]),
            job_groups=tuple(options["group"]),
            description=options["description"],
            owner_contact=options["contact"],
        )
        issued = issue_token(grant=grant, by=self.actor)
        if options["json"]:
            answer = {
                "token_id": issued.token_id.hex,
                "key_id": issued.key_id,
                "token": issued.plaintext,
                "expires_at": issued.expires_at.isoformat(),
            }
            self.stdout.write(json.dumps(answer))
            return
        self.stdout.write(issued.plaintext)
        self.stderr.write(
            f"Key id {issued.key_id}, valid until {issued.expires_at.isoformat()}."
            " Store the token now: it is not shown again."
        )


def read_days(days: int) -> timedelta:
    """That many days; more than a calendar holds is as good as its end."""
    return timedelta(days=max(-1, min(days, 3_000_000)))
