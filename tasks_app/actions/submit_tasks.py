"""Accept new tasks, one or many, each under its own idempotency key."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from msgspec import UNSET

from orbit.errors import Refusal
from tasks_app.domain.access import Actor, Reach
from tasks_app.domain.commands import MAX_PAYLOAD_BYTES, SubmitTask
from tasks_app.domain.declarations import check_size
from tasks_app.domain.errors import (
    ApplicationDisabled,
    ApplicationFull,
    InvalidField,
    QueueFull,
    QueueNotFound,
)
from tasks_app.domain.idempotency import Identity
from tasks_app.domain.timing import parse_moment, window
from tasks_app.models.acceptance import (
    NewTask,
    Place,
    write_tasks,
)
from tasks_app.models.record import TaskRecord
from tasks_app.models.replay import (
    Answered,
    StoredReceipt,
    replay_all,
    stored_receipt,
)
from tasks_app.models.statements.quota import (
    lock_all_shares,
    patiently,
    take_under_lock,
)
from tasks_app.models.statements.read import QUEUE
from tasks_app.models.statements.run import rows


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """One task to accept and the identity of its write."""

    command: SubmitTask
    identity: Identity


@dataclass(frozen=True, slots=True, kw_only=True)
class _Desk:
    """The queue as it is now, and what the keys at hand have done before."""

    place: Place
    now: datetime
    receipts: dict[bytes, StoredReceipt]


def submit_tasks(
    submissions: Sequence[Submission], *, actor: Actor, reach: Reach
) -> list[Answered | Refusal]:
    """Answer each submission in order: accepted, replayed, or why it was refused.

    What is refused does not stop the rest and leaves nothing behind. Each queue's
    tasks are one transaction; a key that comes twice in one call is one task.
    """
    answers: dict[int, Answered | Refusal] = {}
    for queue_id, indexes in _rounds(submissions):
        answered = _answer_round(
            [submissions[index] for index in indexes],
            queue_id=queue_id,
            actor=actor,
            reach=reach,
        )
        answers.update(zip(indexes, answered, strict=True))
    return [answers[index] for index in range(len(submissions))]


def _rounds(submissions: Sequence[Submission]) -> Iterator[tuple[UUID, list[int]]]:
    """One queue and no key twice in each round."""
    waiting: dict[tuple[str, int], list[int]] = {}
    seen: dict[tuple[str, bytes], int] = {}
    for index, submission in enumerate(submissions):
        queue_id = submission.command.queue_id
        turn = seen.get((queue_id, submission.identity.key_digest), 0)
        seen[queue_id, submission.identity.key_digest] = turn + 1
        waiting.setdefault((queue_id, turn), []).append(index)
    for queue_id, turn in sorted(waiting, key=lambda entry: entry[1]):
        yield UUID(queue_id), waiting[queue_id, turn]


def _answer_round(
    submissions: Sequence[Submission], *, queue_id: UUID, actor: Actor, reach: Reach
) -> list[Answered | Refusal]:
    return patiently(
        lambda is_patient: _submit(
            submissions,
            queue_id=queue_id,
            actor=actor,
            reach=reach,
            is_patient=is_patient,
        )
    )


def _submit(
    submissions: Sequence[Submission],
    *,
    queue_id: UUID,
    actor: Actor,
    reach: Reach,
    is_patient: bool,
) -> list[Answered | Refusal]:
    if is_patient:
        # Whoever uses a key holds a share: what is seen from here on stays so.
        lock_all_shares(queue=queue_id)
    desk = _open_desk(submissions, queue_id=queue_id, reach=reach)
    if isinstance(desk, Refusal):
        return [desk] * len(submissions)
    answers: dict[bytes, Answered | Refusal] = {}
    fresh: dict[bytes, NewTask] = {}
    for submission in submissions:
        key = submission.identity.key_digest
        try:
            if key in desk.receipts:
                desk.receipts[key].check_content(submission.identity)
            else:
                fresh[key] = _new_task(submission, now=desk.now)
        except Refusal as refusal:
            answers[key] = refusal
    answers |= _create(fresh, desk=desk, actor=actor, is_patient=is_patient)
    replays = replay_all(
        receipt for key, receipt in desk.receipts.items() if key not in answers
    )
    for key, receipt in desk.receipts.items():
        answers.setdefault(key, replays.get(receipt.task_id, QueueNotFound()))
    return [answers[submission.identity.key_digest] for submission in submissions]


def _open_desk(
    submissions: Sequence[Submission], *, queue_id: UUID, reach: Reach
) -> "_Desk | Refusal":
    found = rows(
        QUEUE,
        {
            "namespace": reach.namespace_id,
            "queue": queue_id,
            "keys": [entry.identity.key_digest for entry in submissions],
        },
    )
    if not found or not reach.covers(
        namespace_id=reach.namespace_id, queue_id=queue_id
    ):
        return QueueNotFound()
    application_id, is_enabled, now = found[0][:3]
    if not is_enabled:
        return ApplicationDisabled()
    receipts = {
        bytes(row[3]): receipt
        for row in found
        if (receipt := stored_receipt(row[4:])) is not None
    }
    place = Place(
        namespace_id=reach.namespace_id,
        application_id=application_id,
        queue_id=queue_id,
        operation="task.submit",
        subject_id=application_id,
    )
    return _Desk(place=place, now=now, receipts=receipts)


def _new_task(submission: Submission, *, now: datetime) -> NewTask:
    command = submission.command
    payload = bytes(command.payload)
    check_size("payload", payload, limit=MAX_PAYLOAD_BYTES)
    retry = command.retry
    if retry.max_delay_ms < retry.initial_delay_ms:
        raise InvalidField(
            "retry.max_delay_ms", "It must not be less than initial_delay_ms."
        )
    owner = None if command.owner is UNSET else command.owner
    return NewTask(
        handler=command.handler,
        handler_version=command.handler_version,
        payload_version=command.payload_version,
        payload=payload.decode(),
        business_key=None if command.business_key is UNSET else command.business_key,
        concurrency_key=None
        if command.concurrency_key is UNSET
        else command.concurrency_key,
        priority=command.priority,
        recovery_safety=command.recovery_safety,
        max_attempts=retry.max_attempts,
        initial_delay_ms=retry.initial_delay_ms,
        max_delay_ms=retry.max_delay_ms,
        attempt_timeout_ms=retry.attempt_timeout_ms,
        window=window(
            now=now,
            task_timeout_ms=command.task_timeout_ms,
            attempt_timeout_ms=retry.attempt_timeout_ms,
            available_at=parse_moment("available_at", command.available_at),
            start_deadline_at=parse_moment(
                "start_deadline_at", command.start_deadline_at
            ),
        ),
        identity=submission.identity,
        owner_kind="STANDALONE" if owner is None else owner.kind,
        owner_id=None if owner is None else UUID(owner.id),
        is_gated=command.gated,
    )


def _create(
    fresh: dict[bytes, NewTask], *, desk: _Desk, actor: Actor, is_patient: bool
) -> dict[bytes, Answered | Refusal]:
    keys, place = list(fresh), desk.place
    refused: dict[bytes, Answered | Refusal] = {}
    if keys and is_patient:
        units, scarce = take_under_lock(
            application=place.application_id, queue=place.queue_id, wanted=len(keys)
        )
        full = QueueFull() if scarce == place.queue_id else ApplicationFull()
        refused = dict.fromkeys(keys[units:], full)
        keys = keys[:units]
    accepted: list[TaskRecord] = []
    if keys:
        accepted = write_tasks(
            [fresh[key] for key in keys],
            place=place,
            actor=actor,
            now=desk.now,
            is_quota_taken=is_patient,
        )
    return refused | {
        key: Answered(task=task, audit_id=fresh[key].audit_id, deduplicated=False)
        for key, task in zip(keys, accepted, strict=True)
    }
