"""A transfer whose effect Orbit cannot see: two lines in a ledger file.

Each line is on disk before the next step. A worker killed between them leaves a half
transfer, which a person can see in the file, and an execution that needs review.
"""

import os
from decimal import Decimal
from pathlib import Path
from typing import Literal

import msgspec
from django.conf import settings

from openapi_app.domain.handlers import (
    Context,
    Finding,
    RetryableError,
    Suspect,
    job_handler,
    job_probe,
)
from orbit.exact_json import encode

LINES = 2  # of a whole transfer


class Transfer(msgspec.Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """What to move; numbers stay the text they were written as.

    Without a sequence the execution's id tells its two lines from all others.
    """

    source: str = msgspec.field(name="from")
    target: str = msgspec.field(name="to")
    amount: msgspec.Raw
    sequence: msgspec.Raw = msgspec.Raw(b"")
    sleep_ms: int = 0


@job_handler("ledger.transfer", parameters=Transfer)
def transfer(context: Context, asked: Transfer) -> object:
    """Write the debit, wait as asked, write the credit."""
    if not settings.LEDGER:
        raise RetryableError("This worker has no ledger: set ORBIT_LEDGER.")
    _check(asked.amount)
    context.check()
    _append(_entry("debit", asked.source, asked, context))
    context.stopped.wait(asked.sleep_ms / 1_000)
    context.check()
    _append(_entry("credit", asked.target, asked, context))
    return {
        "sequence": _sequence(asked, context),
        "amount": asked.amount,
        "entries": 2,
    }


@job_probe("ledger.transfer")
def look(suspect: Suspect, _asked: Transfer) -> Finding:
    """What the ledger says about this execution's two lines."""
    if not settings.LEDGER:
        raise RetryableError("This worker has no ledger: set ORBIT_LEDGER.")
    entries = [
        entry
        for entry in _entries()
        if msgspec.json.decode(entry, type=_Line).execution_id == suspect.owner_id
    ]
    effects: dict[int, Literal["APPLIED", "NOT_APPLIED"]] = {
        0: "NOT_APPLIED",
        LINES: "APPLIED",
    }
    return Finding(
        effect=effects.get(len(entries), "UNKNOWN"),
        evidence_ref=f"ledger:execution-{suspect.owner_id}",
        details={
            "found": len(entries),
            "of": LINES,
            "lines": [msgspec.Raw(entry) for entry in entries],
        },
    )


class _Line(msgspec.Struct):
    execution_id: str


def _entries() -> list[bytes]:
    ledger = Path(settings.LEDGER)
    # Lines of other writers name no execution.
    lines = ledger.read_bytes().splitlines() if ledger.exists() else []
    return [line for line in lines if b'"execution_id"' in line]


def _check(amount: msgspec.Raw) -> None:
    # A string or a word of JSON begins with another character than a number does.
    if not bytes(amount)[:1].isdigit() or Decimal(bytes(amount).decode()) <= 0:
        raise ValueError("The amount is not a number above zero.")


def _entry(
    side: str, account: str, asked: Transfer, context: Context
) -> dict[str, object]:
    return {
        "side": side,
        "account": account,
        "amount": asked.amount,
        "sequence": _sequence(asked, context),
        "execution_id": context.execution_id,
        "attempt_number": context.attempt_number,
    }


def _sequence(asked: Transfer, context: Context) -> object:
    return asked.sequence if bytes(asked.sequence) else context.execution_id


def _append(entry: dict[str, object]) -> None:
    with Path(settings.LEDGER).open("ab") as file:
        file.write(encode(entry) + b"\n")
        file.flush()
        os.fsync(file.fileno())
