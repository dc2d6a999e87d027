"""Says whether the audit chains are whole, in the database or in an export."""

import contextlib
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import cast

from django.core.management.base import BaseCommand, CommandError

from orbit.ids import parse_id
from tasks_app.domain.audit_chain import FORMAT
from tasks_app.domain.audit_export import (
    ExportVerification,
    Record,
    UnreadableExport,
    records_of_csv,
    records_of_json,
)
from tasks_app.domain.audit_verification import Fault, Tally, Verification
from tasks_app.models.audit_links import audit_links, differences, one_moment


class Command(BaseCommand):
    """The command `verify_audit`."""

    help = (
        "Verify the hash chains of the operation audit. Names each record that is "
        "altered, missing or out of order; exit 1 if there is any."
    )
    # An export is verified where there is no database.
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        """What is verified: everything, one task, or an export."""
        parser.add_argument("--task", help="only the chain of this task (32 hex)")
        parser.add_argument("--export", type=Path, help="a file of export_audit")
        parser.add_argument(
            "--against-database",
            action="store_true",
            help="also compare the export with the database",
        )

    def handle(self, *args: object, **options: object) -> None:
        """Name what is wrong, then say how much was read."""
        del args
        path = cast("Path | None", options["export"])
        task = cast("str | None", options["task"])
        if options["against_database"] and path is None:
            raise CommandError("--against-database compares an --export.")
        if task is not None and (path is not None or parse_id(task) is None):
            raise CommandError("--task takes an id of 32 hex, and no --export.")
        if path is None:
            tally = self._verify_database(task)
        else:
            tally = self._verify_export(
                path, with_database=bool(options["against_database"])
            )
        words = f"{tally.tasks} tasks, {tally.records} records, {FORMAT}"
        if tally.faults:
            raise CommandError(f"{tally.faults} faults in {words}", returncode=1)
        self.stdout.write(f"OK: {words}, digest {tally.digest}")

    def _verify_database(self, task: str | None) -> Tally:
        verification = Verification()
        task_id = None if task is None else parse_id(task)
        with one_moment():
            self._name(verification.faults_of(audit_links(task_id=task_id)))
        if task_id is not None and not verification.tally.tasks:
            raise CommandError("There is no such task.", returncode=1)
        return verification.tally

    def _verify_export(self, path: Path, *, with_database: bool) -> Tally:
        export = ExportVerification()
        try:
            with _records(path) as records:
                self._name(export.faults_of(records))
            tally = export.verification.tally
            if with_database:
                with _records(path) as records, one_moment():
                    links = ExportVerification().links_of(records)
                    tally.faults += self._name(differences(links))
        except (OSError, UnicodeDecodeError, UnreadableExport) as error:
            raise CommandError(f"{path}: {error}", returncode=1) from error
        return tally

    def _name(self, faults: Iterator[Fault]) -> int:
        count = 0
        for fault in faults:
            count += 1
            self.stdout.write(_line(fault))
        return count


@contextlib.contextmanager
def _records(path: Path) -> Iterator[Iterator[Record]]:
    with path.open(encoding="utf-8", newline="") as file:
        is_csv = file.read(1) == '"'
        file.seek(0)
        yield records_of_csv(file) if is_csv else records_of_json(file)


def _line(fault: Fault) -> str:
    where = [
        f"{name} {value}"
        for name, value in (
            ("task", fault.task_id and fault.task_id.hex),
            ("sequence", fault.sequence),
            ("audit", fault.audit_id and getattr(fault.audit_id, "hex", None)),
        )
        if value is not None
    ]
    return f"{fault.wrong.upper()}: {' '.join(where)}: {fault.detail}"
