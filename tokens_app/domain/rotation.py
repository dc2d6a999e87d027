"""How a token's secret may be replaced."""

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from tokens_app.domain.errors import TokenInvalid
from tokens_app.domain.grant import check_reason

OVERLAPS = (timedelta(0), timedelta(hours=1), timedelta(hours=24), timedelta(days=7))


class RotationReason(StrEnum):
    """Why a secret is replaced."""

    ROUTINE = "routine"
    LEAKED = "leaked"
    OTHER = "other"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rotation:
    """A wanted replacement of one secret.

    `expected_rotation_count` is the count that the caller saw: of two clicks one wins.
    `overlap` is how long the old secret lives on; a leaked one dies at once.
    """

    expected_rotation_count: int
    reason: RotationReason
    overlap: timedelta = timedelta(0)
    note: str = ""


def check_rotation(rotation: Rotation) -> None:
    """TokenInvalid, with the field, if the rotation breaks a rule."""
    if rotation.overlap not in OVERLAPS:
        raise TokenInvalid(
            "Let the old secret live on for 0, 1 h, 24 h or 7 d.", field="overlap"
        )
    if rotation.reason is RotationReason.LEAKED and rotation.overlap:
        raise TokenInvalid(
            "A leaked secret must die at once; choose no overlap.", field="overlap"
        )
    if rotation.note:
        check_reason(rotation.note, field="note")
