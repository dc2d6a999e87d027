"""What a person declares when recovering a task (spec, section 1)."""

import unicodedata

from tasks_app.domain.errors import InvalidField


def check_reason(reason: str) -> None:
    """Refuse a reason that says nothing."""
    if not reason.strip():
        raise InvalidField("reason", "Say why, in words; blanks are not a reason.")


def check_evidence_ref(reference: str) -> None:
    """Refuse white space and control characters in a reference."""
    if any(
        character.isspace() or unicodedata.category(character) in {"Cc", "Cf"}
        for character in reference
    ):
        raise InvalidField(
            "evidence_ref",
            "A reference has no white space and no control characters, for example "
            "evidence:reconciliation-001.",
        )


def check_declared(field: str, *, is_declared: bool, meaning: str) -> None:
    """Refuse a confirmation that is not an explicit true."""
    if not is_declared:
        raise InvalidField(field, f"Set it to true to declare that {meaning}.")


def check_size(field: str, raw: bytes, *, limit: int) -> None:
    """Refuse JSON text beyond the limit in bytes; the refusal is final."""
    if len(raw) > limit:
        raise InvalidField(
            field,
            f"It has {len(raw)} bytes of JSON; at most {limit} are kept. Store it "
            "elsewhere and send a reference.",
        )
