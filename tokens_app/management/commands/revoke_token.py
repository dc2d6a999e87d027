"""Revoke a token from the command line."""

from argparse import ArgumentParser
from collections.abc import Mapping
from typing import Any

from tokens_app import queries
from tokens_app.actions.revoke_token import revoke_token
from tokens_app.domain.errors import TokenNotFound
from tokens_app.management.token_command import TokenCommand


class Command(TokenCommand):
    """`manage.py revoke_token --key-id … --reason …`"""  # noqa: D400 - a command line

    help = "Revoke a token for ever; every process refuses it from the next request on."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--key-id", required=True, help="See list_tokens.")
        parser.add_argument("--reason", required=True)

    def run(self, options: Mapping[str, Any]) -> None:
        token = queries.find_token(key_id=options["key_id"])
        if token is None:
            raise TokenNotFound("No token has this key id; see list_tokens.")
        at = revoke_token(token_id=token.id, by=self.actor, reason=options["reason"])
        self.stdout.write(f"{token.display_prefix} is revoked since {at.isoformat()}.")
