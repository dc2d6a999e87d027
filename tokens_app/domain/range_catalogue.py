"""The registration by which a higher app explains the ranges of its tokens."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, TypeVar
from uuid import UUID

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenRange:
    """What a token was granted; empty means nothing."""

    namespace_id: UUID
    queue_ids: tuple[UUID, ...] = ()
    job_ids: tuple[UUID, ...] = ()
    job_groups: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether it names nothing at all."""
        return not (self.queue_ids or self.job_ids or self.job_groups)

    def without(self, other: "TokenRange") -> "TokenRange":
        """What this range names and the other does not."""
        return TokenRange(
            namespace_id=self.namespace_id,
            queue_ids=_without(self.queue_ids, other.queue_ids),
            job_ids=_without(self.job_ids, other.job_ids),
            job_groups=_without(self.job_groups, other.job_groups),
        )

    def within(self, other: "TokenRange") -> "TokenRange":
        """What both ranges name."""
        return self.without(self.without(other))


@dataclass(frozen=True, slots=True, kw_only=True)
class RangeMember:
    """One thing that a range reaches or may name: a queue, a job or a job group.

    A group is named by `name`; `group` is the group that a job is in.
    """

    kind: str
    id: UUID
    name: str
    group: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A namespace or an application that a token can belong to."""

    id: UUID
    name: str
    namespace_id: UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenExecution:
    """One execution that a token started, in its present state."""

    id: UUID
    job_id: UUID
    job_name: str
    group: str
    state: str
    accepted_at: datetime


class MayGrant(Protocol):
    """The part of a wanted range that a user may hand on with these scopes."""

    def __call__(
        self, *, user_id: int, scopes: frozenset[str], wanted: TokenRange
    ) -> TokenRange: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RangeCatalogue:
    """How one audience's ranges are read.

    `application_enabled_sql` is a scalar sub-select that becomes part of the one
    authentication query. It may use `t.application_id` and answers a boolean; no row
    means disabled. It is code of this product, never input. `members` names what a
    range reaches now; `choices` what a range in a namespace can name; `find` the jobs
    or queues whose name contains a text; `may_grant` is the granting user's limit.
    Without `may_grant` a user may grant nothing. `executions` are the newest ones that
    a token started, as many as are asked for.
    """

    audience: str
    application_enabled_sql: str | None = None
    members: Callable[[TokenRange], Sequence[RangeMember]] | None = None
    choices: Callable[[UUID], Sequence[RangeMember]] | None = None
    find: Callable[[str], Sequence[RangeMember]] | None = None
    may_grant: MayGrant | None = None
    executions: Callable[[UUID, int], Sequence[TokenExecution]] | None = None
    namespaces: Callable[[], Sequence[Place]] | None = None
    applications: Callable[[], Sequence[Place]] | None = None


_catalogues: dict[str, RangeCatalogue] = {}


def register_range_catalogue(catalogue: RangeCatalogue) -> None:
    """Let `catalogue` speak for its audience from now on, in place of any other."""
    _catalogues[catalogue.audience] = catalogue


def catalogue_of(audience: str) -> RangeCatalogue:
    """The audience's catalogue; an empty one if none is registered."""
    return _catalogues.get(audience) or RangeCatalogue(audience=audience)


def _without(values: tuple[T, ...], others: tuple[T, ...]) -> tuple[T, ...]:
    known = set(others)
    return tuple(value for value in values if value not in known)
