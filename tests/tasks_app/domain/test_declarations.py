"""What a person must declare, and in which words."""

import pytest

from tasks_app.domain.declarations import (
    check_declared,
    check_evidence_ref,
    check_reason,
    check_size,
)
from tasks_app.domain.errors import InvalidField


@pytest.mark.parametrize("reason", ["x", " x ", "已核实", "\u200bx"])
def test_words_are_a_reason(reason):
    check_reason(reason)


@pytest.mark.parametrize("reason", [" ", "\t\n", "\u3000\u2003", "\xa0"])
def test_blanks_are_no_reason(reason):
    with pytest.raises(InvalidField) as refused:
        check_reason(reason)
    assert refused.value.field == "reason"


@pytest.mark.parametrize("reference", ["evidence:1", "证据/1?#", "😀"])
def test_a_reference_is_any_text_without_gaps(reference):
    check_evidence_ref(reference)


@pytest.mark.parametrize(
    "gap",
    [
        *(" ", "\t", "\n", "\r", "\x1f", "\x7f", "\x85", "\xa0", "\u2028", "\u3000"),
        *("\u200e", "\u202e", "\ufeff"),
    ],
)
def test_white_space_and_control_characters_are_refused_anywhere(gap):
    for reference in (f"{gap}a", f"a{gap}b", f"a{gap}"):
        with pytest.raises(InvalidField) as refused:
            check_evidence_ref(reference)
        assert refused.value.field == "evidence_ref"


def test_a_confirmation_is_an_explicit_true():
    check_declared("safe_to_retry", is_declared=True, meaning="it is safe")
    with pytest.raises(InvalidField) as refused:
        check_declared("safe_to_retry", is_declared=False, meaning="it is safe")

    assert refused.value.field == "safe_to_retry"
    assert "it is safe" in refused.value.message


def test_size_is_counted_in_bytes():
    check_size("payload", b"12345", limit=5)
    with pytest.raises(InvalidField, match="6 bytes"):
        check_size("payload", b"123456", limit=5)
