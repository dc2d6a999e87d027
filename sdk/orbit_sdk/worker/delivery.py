"""Bringing reports to the server, again and again, which its leases make harmless."""

import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import msgspec

from orbit_sdk.answers import ReportOutcome
from orbit_sdk.client import Client
from orbit_sdk.errors import (
    AnswerLost,
    Internal,
    InvalidArgument,
    NotSent,
    OrbitError,
    PayloadTooLarge,
    Refused,
    StateConflict,
    TooMany,
    Unavailable,
    UnreadableAnswer,
)
from orbit_sdk.requests import AttemptError, Report
from orbit_sdk.worker.leases import Lease
from orbit_sdk.worker.timing import Backoff, now
from orbit_sdk.worker.verdict import failure

# What may pass by itself; the rest will be the same however often it is asked.
PASSING = (NotSent, AnswerLost, UnreadableAnswer, Unavailable, Internal, TooMany)

_ABOUT_CONTENT = (InvalidArgument, PayloadTooLarge)

_MAX_REPORTS = 100
# Below the server's 512 KiB for a body, with room for what surrounds the results.
_MAX_BYTES = 400 * 1024
_SURROUNDINGS = 3_000

logger = logging.getLogger("orbit_sdk.worker")


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """An attempt that ended, and what there is to say about it."""

    lease: Lease
    report: Report

    @property
    def size(self) -> int:
        result = self.report.result
        known = 0 if isinstance(result, msgspec.UnsetType) else len(bytes(result))
        return known + _SURROUNDINGS


class Delivery:
    """Delivers reports until each is answered or its time is over.

    A report is repeated while its lease lasts and for `evidence_seconds` after it
    (or after it was made, when that is later): late ones are kept as evidence.
    """

    def __init__(self, client: Client, *, evidence_seconds: float) -> None:
        self._client = client
        self._evidence_seconds = evidence_seconds
        self.give_up_at = float("inf")

    def deliver(self, done: Sequence[Done]) -> None:
        """Return when nothing is left to be said about these attempts."""
        made_at = now()
        waiting = list(done)
        backoff = Backoff(first=0.1, most=2.0)
        while waiting:
            batch, rest = _split(waiting)
            try:
                again = self._send(batch)
            except PASSING as error:
                logger.warning("%d reports have to wait: %s", len(batch), error)
                again = batch
            if len(again) == len(batch):
                again = self._still_worth(again, made_at)
                time.sleep(backoff.next() if again else 0)
            waiting = again + rest

    def _send(self, batch: list[Done]) -> list[Done]:
        """Send once; what has to be sent (again) is answered."""
        try:
            outcomes = self._client.report([it.report for it in batch]).results
        except PASSING:
            raise
        except Refused as refused:
            return self._refused_whole(batch, refused)
        again: list[Done] = []
        for done, outcome in zip(batch, outcomes, strict=True):
            again.extend(_settle(done, outcome))
        return again

    def _refused_whole(self, batch: list[Done], refused: Refused) -> list[Done]:
        one_by_one = len(batch) > 1 and isinstance(refused, _ABOUT_CONTENT)
        again: list[Done] = []
        for done in batch:
            if one_by_one:
                again.extend(self._send([done]))
            else:
                again.extend(_replace_or_drop(done, refused))
        return again

    def _still_worth(self, batch: list[Done], made_at: float) -> list[Done]:
        worth: list[Done] = []
        for done in batch:
            until = max(done.lease.expires_at, made_at) + self._evidence_seconds
            if now() < min(until, self.give_up_at):
                worth.append(done)
            else:
                logger.error(
                    "A report could not be delivered, task %s, kind %s",
                    done.lease.assignment.task.id,
                    done.report.kind,
                )
        return worth


def _split(waiting: list[Done]) -> tuple[list[Done], list[Done]]:
    """As many as one request may carry, and the rest."""
    size = 0
    for count, done in enumerate(waiting):
        size += done.size
        if count == _MAX_REPORTS or (count and size > _MAX_BYTES):
            return waiting[:count], waiting[count:]
    return waiting, []


def _settle(done: Done, outcome: ReportOutcome) -> list[Done]:
    refused = outcome.refusal
    if refused is None:
        return []
    if isinstance(refused, PASSING):
        return [done]
    return _replace_or_drop(done, refused)


def _replace_or_drop(done: Done, refused: OrbitError) -> list[Done]:
    task_id = done.lease.assignment.task.id
    if isinstance(refused, StateConflict):
        logger.warning("The report came too late, task %s: %s", task_id, refused)
        return []
    if isinstance(refused, _ABOUT_CONTENT) and done.report.kind == "succeed":
        # The lease stays reportable: say that the result could not be taken.
        error = AttemptError(code="RESULT_REFUSED", message=refused.message[:2_000])
        said = failure(done.lease.assignment, error, retryable=False)
        return [replace(done, report=said)]
    logger.error("The report was refused, task %s: %s", task_id, refused)
    return []
