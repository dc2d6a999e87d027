"""Who acts, and how far they reach."""

from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

ENGINE_ID = UUID("00000000-0000-7000-8000-000000000001")


class ActorKind(StrEnum):
    """A token, a signed-in person, or the engine itself."""

    TOKEN = "TOKEN"  # noqa: S105
    USER = "USER"
    ENGINE = "ENGINE"


@dataclass(frozen=True, slots=True, kw_only=True)
class Actor:
    """The authenticated identity that an audit record names."""

    id: UUID
    kind: ActorKind


def signed_in(*, user_number: int | None) -> Actor:
    """The signed-in person as an audit names them: by the number of their user."""
    if user_number is None:
        raise ValueError("Nobody is signed in.")
    return Actor(id=UUID(int=user_number), kind=ActorKind.USER)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """The namespace and queues that a caller may touch; no queues means nothing.

    `queue_ids` None is every queue of the namespace: for people with the permission.
    """

    namespace_id: UUID
    queue_ids: tuple[UUID, ...] | None

    def covers(self, *, namespace_id: UUID, queue_id: UUID) -> bool:
        """Whether something of that namespace and queue is within reach."""
        return self.namespace_id == namespace_id and (
            self.queue_ids is None or queue_id in self.queue_ids
        )


ENGINE = Actor(id=ENGINE_ID, kind=ActorKind.ENGINE)
