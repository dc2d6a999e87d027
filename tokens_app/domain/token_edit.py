"""A wanted change of a token that is issued."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from tokens_app.domain.grant import check_limits, check_texts

TEXTS = ("name", "description", "owner_contact")
RANGES = ("queue_ids", "job_ids", "job_groups")
LIMITS = ("reads_per_minute", "triggers_per_minute")


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenEdit:
    """What to change; a member that is None stays as it is.

    `expires` is a moment, or a time from now. A limit of 0 brings the default back.
    Naming a range again accepts the jobs that its groups have gained since.
    `seen_updated_at` is the state that the caller saw: of two editors one wins.
    """

    name: str | None = None
    description: str | None = None
    owner_contact: str | None = None
    expires: datetime | timedelta | None = None
    queue_ids: tuple[UUID, ...] | None = None
    job_ids: tuple[UUID, ...] | None = None
    job_groups: tuple[str, ...] | None = None
    reads_per_minute: int | None = None
    triggers_per_minute: int | None = None
    seen_updated_at: datetime | None = None
    reason: str = ""

    @property
    def has_range(self) -> bool:
        """Whether a part of the range is named."""
        return any(getattr(self, name) is not None for name in RANGES)


def check_edit(edit: TokenEdit) -> None:
    """TokenInvalid, with the field, if texts or limits break a rule."""
    texts = {name: getattr(edit, name) for name in TEXTS}
    check_texts(**{name: text for name, text in texts.items() if text is not None})
    check_limits(**{name: getattr(edit, name) or None for name in LIMITS})
