"""What an owner of tasks must answer before one of its tasks is recovered."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from tasks_app.domain.lifecycle import OwnerKind, State


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """A task of an owner that has just become final."""

    task_id: UUID
    owner_id: UUID
    state: State


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

    def blocked_by(self, owner_ids: Sequence[UUID]) -> set[UUID]:
        """What cannot go on while the tasks of these owners wait for review; read only.

        Answers ids of the owner's own choice, such as those of its serial jobs.
        """


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

    def blocked_by(self, owner_ids: Sequence[UUID]) -> set[UUID]:
        """Nothing."""
        del owner_ids
        return set()


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
