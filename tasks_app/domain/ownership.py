"""What an owner of tasks must answer before one of its tasks is recovered."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable
from uuid import UUID

from tasks_app.domain.lifecycle import OwnerKind, State


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """A task of an owner that has just become final."""

    task_id: UUID
    owner_id: UUID
    state: State


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingTurn:
    """An execution of a serial job that waits until an earlier one is final.

    `goes_on` says that it is the one that would move on, were that earlier one final
    now.
    """

    job_id: UUID
    job_name: str
    owner_id: UUID
    task_id: UUID | None
    goes_on: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Blocked:
    """A serial job that cannot go on, and how many of its executions wait."""

    job_name: str
    executions: int


class OwnerPolicy(Protocol):
    """Registered at the door by the app that owns tasks of one kind."""

    def refuse_review(self, *, task_id: UUID, owner_id: UUID | None) -> str | None:
        """Why a review is refused, or None; runs in the review's transaction."""

    def refuse_retry(self, *, task_id: UUID, owner_id: UUID | None) -> str | None:
        """Why a direct retry is refused, or None."""

    def before_settling(self, owner_ids: Sequence[UUID]) -> None:
        """Tasks of these owners are about to become final: take the owner's locks.

        Runs under the tasks' locks and before those on quota, so that whoever holds an
        owner may wait for quota.
        """

    def on_settled(self, settled: Sequence[Settled]) -> None:
        """These tasks became final; runs in that transaction, once for each task."""


@runtime_checkable
class ForeseeingOwner(Protocol):
    """What an owner's policy may offer besides: it only looks."""

    def waiting_behind(self, *, owner_id: UUID, limit: int) -> Sequence[WaitingTurn]:
        """What waits for this owner's task to be final, first in turn first."""


@runtime_checkable
class StoppableOwner(Protocol):
    """What an owner's policy offers besides when its work can stand still."""

    def held_up_by(self, owner_ids: Sequence[UUID]) -> set[UUID]:
        """What cannot go on while the tasks of these owners wait for review; read only.

        Answers ids of the owner's own choice, such as those of its serial jobs.
        """


@runtime_checkable
class BlockingOwner(Protocol):
    """What an owner's policy may offer besides, for lists."""

    def blocked_by(self, owner_ids: Sequence[UUID]) -> Mapping[UUID, Blocked]:
        """What waits for the tasks of these owners; those that block nothing lack."""


@runtime_checkable
class ProbingOwner(Protocol):
    """What an owner's policy offers besides when its own workers probe its tasks."""

    def refuse_probe(self, *, handler: str) -> str | None:
        """Why tasks of this handler cannot be probed, or None."""

    def announce_probe(self, *, probe_id: UUID) -> None:
        """The task of a probe was written; runs in that transaction."""


class Standalone:
    """A task without an owner answers for itself."""

    def refuse_review(self, *, task_id: UUID, owner_id: UUID | None) -> str | None:
        """Never refused."""
        del task_id, owner_id
        return None

    def refuse_retry(self, *, task_id: UUID, owner_id: UUID | None) -> str | None:
        """Never refused."""
        del task_id, owner_id
        return None

    def before_settling(self, owner_ids: Sequence[UUID]) -> None:
        """Nothing to lock."""

    def on_settled(self, settled: Sequence[Settled]) -> None:
        """Nobody waits for it."""


class Unregistered(Standalone):
    """An owner that nobody speaks for refuses everything."""

    def refuse_review(self, *, task_id: UUID, owner_id: UUID | None) -> str | None:
        """Recovery goes through the owner."""
        del task_id, owner_id
        return "This task belongs to an owner: recover it through that owner."

    refuse_retry = refuse_review


_policies: dict[OwnerKind, OwnerPolicy] = {OwnerKind.STANDALONE: Standalone()}


def register(kind: OwnerKind, policy: OwnerPolicy) -> None:
    """Let `policy` speak for all tasks of `kind`."""
    _policies[kind] = policy


def policy_for(kind: OwnerKind) -> OwnerPolicy:
    """Who speaks for tasks of `kind`."""
    return _policies.get(kind, Unregistered())


def waiting_behind(
    kind: OwnerKind, *, owner_id: UUID | None, limit: int
) -> Sequence[WaitingTurn]:
    """What waits for the task of this owner; nothing where nobody can tell."""
    policy = policy_for(kind)
    if owner_id is None or not isinstance(policy, ForeseeingOwner):
        return ()
    return policy.waiting_behind(owner_id=owner_id, limit=limit)


def held_up_by(kind: OwnerKind, owner_ids: Sequence[UUID]) -> set[UUID]:
    """What stands still while tasks of these owners wait, as far as they can tell."""
    policy = policy_for(kind)
    return policy.held_up_by(owner_ids) if isinstance(policy, StoppableOwner) else set()


def blocked_by(kind: OwnerKind, owner_ids: Sequence[UUID]) -> Mapping[UUID, Blocked]:
    """What waits for the tasks of these owners; nothing where nobody can tell."""
    policy = policy_for(kind)
    return policy.blocked_by(owner_ids) if isinstance(policy, BlockingOwner) else {}


def refuse_probe(kind: OwnerKind, *, handler: str) -> str | None:
    """Why a task of this owner and handler cannot be probed, or None.

    Whoever claims by the worker protocol declares probes there: nobody can tell here.
    """
    policy = policy_for(kind)
    if not isinstance(policy, ProbingOwner):
        return None
    return policy.refuse_probe(handler=handler)


def announce_probe(kind: OwnerKind, *, probe_id: UUID) -> None:
    """Let the owner's workers know of a probe, where they do not look themselves."""
    policy = policy_for(kind)
    if isinstance(policy, ProbingOwner):
        policy.announce_probe(probe_id=probe_id)
