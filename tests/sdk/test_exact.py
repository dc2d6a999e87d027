"""Numbers keep every digit."""

import enum
from decimal import Decimal

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orbit_sdk import Json
from orbit_sdk.exact import decode, encode

NUMBERS = [
    "0",
    "-0",
    "9007199254740993",
    "123456789012345678901234567890",
    "1.10",
    "1.0",
    "0.1000000000000000055",
    "-0.0",
    "9" * 5_000,
]
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.decimals(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner) | st.dictionaries(st.text("ab\n\0é"), inner),
)


@pytest.mark.parametrize("number", NUMBERS)
def test_the_digits_that_came_in_are_the_digits_that_go_out(number):
    assert encode(decode(number)).decode() == number


def test_a_huge_exponent_is_the_same_number_afterwards():
    assert encode(decode("1E400")) == b"1E+400"
    assert decode("1E400") == Decimal("1E400")


def test_a_text_given_as_json_is_sent_byte_for_byte():
    text = '{"a" :  1E400, "b": [ 1.10 ]}'

    assert encode(Json(text)) == text.encode()
    assert encode({"x": Json(text), "y": msgspec.Raw(b"1.0")}) == (
        b'{"x":' + text.encode() + b',"y":1.0}'
    )


@settings(max_examples=50)
@given(VALUES)
def test_every_value_is_the_same_after_a_round_trip(value):
    assert decode(encode(value)) == value


def test_a_decoded_number_is_never_a_float():
    values = decode('{"a": 1.5, "b": [2e3, 7]}')

    assert values == {"a": Decimal("1.5"), "b": [Decimal("2e3"), 7]}
    assert type(values["a"]) is type(values["b"][0]) is Decimal
    assert type(values["b"][1]) is int


@pytest.mark.parametrize(
    "value",
    [float("nan"), float("inf"), Decimal("NaN"), Decimal("-Infinity"), "\ud800"],
)
def test_what_json_cannot_say_is_refused(value):
    with pytest.raises(ValueError, match=r"JSON form|surrogates"):
        encode({"a": value})


class Colour(enum.Enum):
    RED = 1


@pytest.mark.parametrize("value", [{1: 2}, {1, 2}, b"bytes", object(), Colour.RED])
def test_what_has_no_exact_form_is_refused_by_type(value):
    with pytest.raises(TypeError):
        encode(value)


@pytest.mark.parametrize("text", ["NaN", "[Infinity]", '{"a": -Infinity}'])
def test_constants_that_are_not_json_are_not_read(text):
    with pytest.raises(ValueError, match="not JSON"):
        decode(text)


def test_a_hundred_levels_are_the_most():
    value: object = 1
    for _ in range(100):
        value = [value]

    assert decode(encode(value)) == value
    with pytest.raises(ValueError, match="deeper than 100"):
        encode([value])
