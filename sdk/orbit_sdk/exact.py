"""JSON whose numbers keep every digit, on the way out and on the way in."""

import json
import math
from collections.abc import Callable, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

import msgspec

# dict, list, str, int, Decimal, bool or None: what decoding yields.
Value = Any

MAX_DEPTH = 100
# The interpreter refuses to convert longer ones from and to text by int() and str().
_PLAIN_INTEGER_DIGITS = 4_000
_PLAIN_INTEGER_BITS = 13_000


class Json:
    """A JSON text as it was written, byte for byte.

    Give one where a payload or result is asked for to send exactly that text;
    payloads and results of answers are read as one. `decode()` yields Python
    values: int of any size, Decimal for every number that is not an integer.
    """

    __slots__ = ("_text",)

    def __init__(self, text: bytes | str | msgspec.Raw, /) -> None:
        self._text = text.encode() if isinstance(text, str) else bytes(text)

    def decode(self) -> Value:
        """The value, exact; ValueError for a number that Decimal cannot hold."""
        return decode(self._text)

    @property
    def raw(self) -> msgspec.Raw:
        return msgspec.Raw(self._text)

    @property
    def text(self) -> str:
        return self._text.decode()

    def __bytes__(self) -> bytes:
        return self._text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Json) and self._text == other._text

    def __hash__(self) -> int:
        return hash(self._text)

    def __repr__(self) -> str:
        return f"Json({self.text!r})"


def decode(text: bytes | str | msgspec.Raw, /) -> Value:
    """Python values of a JSON text: int, or Decimal for what no int can say."""
    source = bytes(text) if isinstance(text, msgspec.Raw) else text
    return json.loads(
        source, parse_int=_integer, parse_float=_decimal, parse_constant=_refuse
    )


def encode(value: object, /) -> bytes:
    """The JSON text of Python values without loss; Json and Raw pass unchanged.

    TypeError for what has no JSON form, ValueError for NaN, infinities, lone
    surrogates and nesting beyond 100.
    """
    if isinstance(value, Json | msgspec.Raw):
        return bytes(value)
    pieces: list[str] = []
    _write(value, pieces.append, 0)
    return "".join(pieces).encode()


def _integer(digits: str) -> int | Decimal:
    if digits == "-0":
        return Decimal(digits)
    if len(digits) > _PLAIN_INTEGER_DIGITS:
        return int(Decimal(digits))
    return int(digits)


def _decimal(digits: str) -> Decimal:
    try:
        return Decimal(digits)
    except InvalidOperation as error:
        raise ValueError(
            f"The number {digits[:40]} is beyond Decimal; read the text itself."
        ) from error


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON.")


_WRITERS: dict[type, Callable[[Any], str]] = {}


def _write(value: object, put: Callable[[str], object], depth: int) -> None:
    write = _WRITERS.get(type(value))
    if write is not None:
        put(write(value))
    elif depth >= MAX_DEPTH:
        raise ValueError(f"The value nests deeper than {MAX_DEPTH}.")
    elif isinstance(value, Mapping):
        _write_object(value, put, depth + 1)
    elif isinstance(value, list | tuple):
        _write_array(value, put, depth + 1)
    else:
        raise TypeError(
            f"{type(value).__name__} has no exact JSON form; "
            "give dict, list, str, int, Decimal, float, bool, None or Json."
        )


def _write_object(
    members: Mapping[Any, object], put: Callable[[str], object], depth: int
) -> None:
    separator = "{"
    for name, value in members.items():
        if not isinstance(name, str):
            raise TypeError(f"An object key must be str, not {type(name).__name__}.")
        put(separator)
        put(json.encoder.encode_basestring(name))
        put(":")
        _write(value, put, depth)
        separator = ","
    put("}" if members else "{}")


def _write_array(
    values: list[object] | tuple[object, ...],
    put: Callable[[str], object],
    depth: int,
) -> None:
    separator = "["
    for value in values:
        put(separator)
        _write(value, put, depth)
        separator = ","
    put("]" if values else "[]")


def _integer_text(value: int) -> str:
    # Decimal has no limit on digits and writes an integer without an exponent.
    if value.bit_length() < _PLAIN_INTEGER_BITS:
        return str(value)
    return format(Decimal(value), "f")


def _decimal_text(value: Decimal) -> str:
    if not value.is_finite():
        raise ValueError(f"{value} has no JSON form.")
    return str(value)


def _float_text(value: float) -> str:
    if not math.isfinite(value):
        raise ValueError(f"{value} has no JSON form.")
    return repr(value)


_WRITERS.update(
    {
        str: json.encoder.encode_basestring,
        bool: lambda value: "true" if value else "false",
        type(None): lambda _: "null",
        int: _integer_text,
        Decimal: _decimal_text,
        float: _float_text,
        Json: lambda value: value.text,
        msgspec.Raw: lambda value: bytes(value).decode(),
    }
)
