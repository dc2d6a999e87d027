"""The registration by which a higher app explains the ranges of its tokens."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from uuid import UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenRange:
    """What a token was granted; empty means nothing."""

    namespace_id: UUID
    queue_ids: tuple[UUID, ...] = ()
    job_ids: tuple[UUID, ...] = ()
    job_groups: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RangeMember:
    """One thing that a range reaches at this moment: a queue or a job."""

    kind: str
    id: UUID
    name: str
    group: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RangeCatalogue:
    """How one audience's ranges are read.

    `application_enabled_sql` is a scalar sub-select that becomes part of the one
    authentication query. It may use `t.application_id` and answers a boolean; no row
    means disabled. It is code of this product, never input. `members` names what a
    range reaches now.
    """

    audience: str
    application_enabled_sql: str | None = None
    members: Callable[[TokenRange], Sequence[RangeMember]] | None = None


_catalogues: dict[str, RangeCatalogue] = {}


def register_range_catalogue(catalogue: RangeCatalogue) -> None:
    """Let `catalogue` speak for its audience from now on, in place of any other."""
    _catalogues[catalogue.audience] = catalogue


def catalogue_of(audience: str) -> RangeCatalogue:
    """The audience's catalogue; an empty one if none is registered."""
    return _catalogues.get(audience) or RangeCatalogue(audience=audience)
