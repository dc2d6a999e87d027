"""A worker whose effect Orbit cannot see: it writes transfers into a ledger file.

Each transfer is two lines, a debit and a credit, each on disk before the next
step. A worker killed between them leaves a half transfer, which a person can see
with `--show SEQUENCE`, and a task that needs review. The transfer does not look
whether it was made before: submit it as RECONCILE_ONLY. Its probe does, and tells
the person who reviews.

    ORBIT_BASE_URL  ORBIT_TOKEN  ORBIT_QUEUE_ID  ORBIT_LEDGER (path of the file)
    ORBIT_DEMO_MAY_DIE=1  lets a payload's "die" kill this worker, once

Payload: {"from": "a", "to": "b", "amount": 1.10, "sequence": 7,
          "die": "before" | "middle" | "after", "sleep_ms": 1000}
"""

import argparse
import logging
import os
import signal
import sys
from decimal import Decimal
from pathlib import Path
from typing import Literal, NoReturn

import msgspec

from orbit_sdk import Client, OrbitError
from orbit_sdk.exact import decode, encode
from orbit_sdk.worker import Context, Finding, Suspect, Worker, WorkerOptions

HANDLER = "ledger.transfer"
VERSION = "v1"
EFFECTS: dict[tuple[str, ...], Literal["APPLIED", "NOT_APPLIED"]] = {
    (): "NOT_APPLIED",
    ("credit", "debit"): "APPLIED",
}


class Transfer(msgspec.Struct, frozen=True, kw_only=True):
    """What to move; numbers stay the text they were written as."""

    source: str = msgspec.field(name="from")
    target: str = msgspec.field(name="to")
    amount: msgspec.Raw
    sequence: msgspec.Raw
    die: Literal["before", "middle", "after"] | None = None
    sleep_ms: int = 0


class Ledger:
    """An append-only file of JSON lines."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def append(self, entry: dict[str, object]) -> None:
        """Return when the line is on disk."""
        with self._path.open("ab") as file:
            file.write(encode(entry) + b"\n")
            file.flush()
            os.fsync(file.fileno())

    def entries(self, sequence: str) -> list[dict[str, object]]:
        """The lines of one transfer, in the order they were written."""
        if not self._path.exists():
            return []
        lines = self._path.read_bytes().splitlines()
        return [it for it in map(decode, lines) if str(it["sequence"]) == sequence]


def transfer(context: Context, *, ledger: Ledger, may_die: bool) -> object:
    """Write both halves; the answer repeats the digits that were asked for."""
    asked = msgspec.json.decode(bytes(context.payload), type=Transfer)
    amount = decode(asked.amount)
    if isinstance(amount, bool) or not isinstance(amount, int | Decimal) or amount <= 0:
        raise ValueError("The amount is not a number above zero.")
    # The child of a retry, or a second attempt, is there to get through.
    first = context.task.retry_of is None and context.attempt_number == 1
    dies = asked.die if may_die and first else None

    _die_if(dies == "before")
    context.check()
    ledger.append(_entry("debit", asked.source, asked, context))
    _die_if(dies == "middle")
    context.cancelled.wait(asked.sleep_ms / 1_000)
    context.check()
    ledger.append(_entry("credit", asked.target, asked, context))
    _die_if(dies == "after")
    return {"sequence": asked.sequence, "amount": asked.amount, "entries": 2}


def _entry(
    side: str, account: str, asked: Transfer, context: Context
) -> dict[str, object]:
    return {
        "side": side,
        "account": account,
        "amount": asked.amount,
        "sequence": asked.sequence,
        "task_id": context.task.id,
        "attempt_number": context.attempt_number,
    }


def _die_if(condition: bool) -> None:  # noqa: FBT001 - reads as a sentence
    if condition:
        os.kill(os.getpid(), signal.SIGKILL)


def look(suspect: Suspect, *, ledger: Ledger) -> Finding:
    """What the ledger says about a transfer of which nobody knows."""
    asked = msgspec.json.decode(bytes(suspect.payload), type=Transfer)
    sequence = str(decode(asked.sequence))
    entries = [
        it for it in ledger.entries(sequence) if it["task_id"] == suspect.task_id
    ]
    sides = sorted(str(entry["side"]) for entry in entries)
    return Finding(
        effect=EFFECTS.get(tuple(sides), "UNKNOWN"),
        evidence_ref=f"ledger:sequence-{sequence}",
        details={"found": len(entries), "of": 2, "entries": entries},
    )


def show(ledger: Ledger, sequence: str) -> None:
    """Print what the ledger says about one transfer."""
    entries = ledger.entries(sequence)
    sides = sorted(str(entry["side"]) for entry in entries)
    state = {
        (): "nothing was written",
        ("debit",): "HALF: debited, not credited",
        ("credit", "debit"): "complete",
    }.get(tuple(sides), "written more than once")
    for entry in entries:
        sys.stdout.write(encode(entry).decode() + "\n")
    sys.stdout.write(f"sequence {sequence}: {state}\n")


def setting(name: str) -> str:
    """The environment's value, or an end with a word about what is missing."""
    value = os.environ.get(name, "")
    if not value:
        stop(f"Set {name}; this worker needs it.")
    return value


def stop(message: str) -> NoReturn:
    sys.stderr.write(message + "\n")
    sys.exit(2)


def work(ledger: Ledger, *, lease_ms: int, once: bool) -> None:
    """Do transfers until stopped, or only what one claim gives."""
    may_die = os.environ.get("ORBIT_DEMO_MAY_DIE") == "1"
    with Client(setting("ORBIT_BASE_URL"), setting("ORBIT_TOKEN")) as client:
        worker = Worker(
            client=client,
            queue_id=setting("ORBIT_QUEUE_ID"),
            # The process that holds an attempt is what its operator looks for.
            name=f"ledger/{os.getpid()}",
            options=WorkerOptions(lease_ms=lease_ms, poll_seconds=0.5),
        )

        @worker.handler(HANDLER, VERSION)
        def run(context: Context) -> object:
            return transfer(context, ledger=ledger, may_die=may_die)

        @worker.probe(HANDLER, VERSION)
        def find(suspect: Suspect) -> Finding:
            return look(suspect, ledger=ledger)

        try:
            worker.run_once() if once else worker.run()
        except OrbitError as error:
            stop(str(error))


def main() -> None:
    """Read the command line and do what it says."""
    parser = argparse.ArgumentParser(description="Transfers into a ledger file.")
    parser.add_argument("--lease-ms", type=int, default=10_000)
    parser.add_argument("--once", action="store_true", help="one claim, then end")
    parser.add_argument("--show", metavar="SEQUENCE", help="print a transfer and end")
    asked = parser.parse_args()
    logging.basicConfig(
        level=logging.WARNING, format="%(asctime)s %(levelname)s %(message)s"
    )
    ledger = Ledger(Path(setting("ORBIT_LEDGER")))
    if asked.show is None:
        work(ledger, lease_ms=asked.lease_ms, once=asked.once)
    else:
        show(ledger, asked.show)


if __name__ == "__main__":
    main()
