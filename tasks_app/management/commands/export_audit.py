"""Writes audit records to a file that can be kept elsewhere and verified there."""

from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import IO, cast
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError

from orbit.errors import Invalid
from tasks_app.domain.audit_export import (
    Begin,
    comma_separated,
    json_lines,
    write_export,
)
from tasks_app.domain.timing import parse_moment
from tasks_app.models import Namespace
from tasks_app.models.audit_links import audit_links, one_moment

FORMS = {"jsonl": json_lines, "csv": comma_separated}


class Command(BaseCommand):
    """The command `export_audit`."""

    help = "Export the operation audit with its hashes; verify_audit reads the file."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """What is exported, and where to."""
        parser.add_argument("--format", choices=sorted(FORMS), required=True)
        parser.add_argument("--since", help="from this time on: RFC 3339, UTC")
        parser.add_argument("--namespace", help="only this namespace, by its name")
        parser.add_argument(
            "--output", type=Path, help="a file that is not there yet; else stdout"
        )

    def handle(self, *args: object, **options: object) -> None:
        """Write the file; say on stderr how much it holds."""
        del args
        asked = Begin(
            since=_since(cast("str | None", options["since"])),
            namespace_id=_namespace(cast("str | None", options["namespace"])),
        )
        write = FORMS[cast("str", options["format"])]
        with self._opened(cast("Path | None", options["output"])) as file, one_moment():
            links = audit_links(since=asked.since, namespace_id=asked.namespace_id)
            tally = write_export(links, asked=asked, write=write(file))
        said = f"{tally.tasks} tasks, {tally.records} records, digest {tally.digest}"
        self.stderr.write(said)
        if tally.faults:
            raise CommandError(
                f"Exported as it is, with {tally.faults} faults: run verify_audit."
            )

    @contextmanager
    def _opened(self, path: Path | None) -> Iterator[IO[str]]:
        if path is None:
            yield cast("IO[str]", self.stdout)
            return
        if path.exists():
            raise CommandError(f"{path} is there already.")
        part = path.with_name(path.name + ".part")
        # Whoever finds the file under its name finds it whole.
        with part.open("w", encoding="utf-8", newline="") as file:
            yield file
        part.rename(path)


def _since(text: str | None) -> datetime | None:
    try:
        return parse_moment("since", text)
    except Invalid as error:
        raise CommandError(f"--since: {error}") from error


def _namespace(name: str | None) -> UUID | None:
    if name is None:
        return None
    found: UUID | None = (
        Namespace.objects.filter(name=name).values_list("id", flat=True).first()
    )
    if found is None:
        raise CommandError(f"There is no namespace {name}.")
    return found
