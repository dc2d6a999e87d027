"""What the token commands have in common: who acts, and how a refusal is said."""

import argparse
from abc import abstractmethod
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError

from orbit.errors import Refusal
from tokens_app.domain.grant import Actor


class TokenCommand(BaseCommand):
    """A command whose refusals are one line on standard error and status 1."""

    @property
    def actor(self) -> Actor:
        """The command itself, as the audit names it."""
        return Actor(name=f"command:{type(self).__module__.rpartition('.')[2]}")

    def handle(self, *args: object, **options: object) -> None:  # noqa: ARG002
        """Run the command; a Refusal becomes a CommandError."""
        try:
            self.run(options)
        except Refusal as refusal:
            option = f"{refusal.field}: " if refusal.field else ""
            raise CommandError(f"{option}{refusal.message}") from None

    @abstractmethod
    def run(self, options: Mapping[str, Any]) -> None:
        """Do what the command is named for."""


def read_uuid(text: str) -> UUID:
    """An identifier in 32 hex digits, with or without dashes."""
    try:
        return UUID(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not an identifier.") from None
