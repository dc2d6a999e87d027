"""JSON that keeps every digit, and the refusal of JSON that is not exact."""

import hashlib
import json
import re
from array import array
from itertools import accumulate
from typing import NoReturn, TypeVar

import jiter
import msgspec

from orbit.errors import Invalid
from orbit.json_faults import explain_shape, explain_text

MAX_NESTING = 100

T = TypeVar("T")

# An escaped NUL, unless the backslash itself is escaped.
NUL_ESCAPE = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")
STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)
# A string, or digits beyond what int() accepts; strings come first to be passed over.
STRING_OR_LONG_NUMBER = re.compile(
    rb'"(?:[^"\\]++|\\.)*+"?|(?P<head>[0-9]{20})[0-9]{3000,}', re.DOTALL
)
NOT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
STEPS = bytes.maketrans(b"[]{}", b"\x01\xff\x01\xff")


def check(body: bytes) -> None:
    """Raise Invalid unless `body` is one exact JSON value.

    Refused are: an empty body, invalid UTF-8, a byte order mark, trailing bytes,
    duplicate keys, NaN and Infinity, U+0000, lone surrogates, and more than 100
    levels of nesting. Numbers may have any number of digits.
    """
    if not body:
        raise Invalid("Send a JSON object.")
    try:
        _parse(body)
    except ValueError as error:
        raise Invalid(explain_text(str(error), body)) from None
    if b"\\u0000" in body and NUL_ESCAPE.search(body):
        raise Invalid("A string or key contains U+0000. Remove that character.")
    if body.count(b"[") + body.count(b"{") > MAX_NESTING:
        _check_nesting(body)


def _parse(body: bytes) -> None:
    try:
        _read(body)
    except ValueError as error:
        if "number out of range" not in str(error):
            raise
        # The reader stops at 4300 digits: check the rest with shorter numbers.
        _read(STRING_OR_LONG_NUMBER.sub(_shorter, body))


def _read(body: bytes) -> None:
    jiter.from_json(
        body,
        allow_inf_nan=False,
        cache_mode="keys",
        catch_duplicate_keys=True,
        float_mode="lossless-float",
    )


def _shorter(match: re.Match[bytes]) -> bytes:
    return match["head"] or match[0]


def _check_nesting(body: bytes) -> None:
    brackets = STRING.sub(b"", body).translate(STEPS, NOT_BRACKETS)
    if max(accumulate(array("b", brackets)), default=0) > MAX_NESTING:
        raise Invalid(f"The JSON is nested deeper than {MAX_NESTING} levels.")


def decode(body: bytes, shape: type[T]) -> T:
    """`body`, checked, as a `shape`, which is a msgspec.Struct.

    Raises Invalid; its `field` is the dotted path of the offending member, also of
    an unknown or a missing one.
    """
    check(body)
    return decode_checked(body, shape)


def decode_checked(body: bytes, shape: type[T]) -> T:
    """As `decode`, of bytes that `check` has passed already."""
    try:
        return msgspec.json.decode(body, type=shape)
    except msgspec.ValidationError as error:
        message, field = explain_shape(str(error), shape)
        raise Invalid(message, field=field) from None


def canonical(text: bytes | str) -> bytes:
    """The canonical form of checked JSON, as UTF-8.

    Keys are sorted by code point, white space is gone, strings have the fewest
    escapes, and numbers stay as written: 1.10 and 1.1 differ.
    """
    written = text if isinstance(text, str) else text.decode()
    return _CANONICAL.encode(_AS_WRITTEN.decode(written))


def digest(text: bytes | str) -> str:
    """The SHA-256 of the canonical form, 64 lower-case hex."""
    return hashlib.sha256(canonical(text)).hexdigest()


def encode(data: object) -> bytes:
    """`data` as JSON.

    A msgspec.Raw passes through unchanged, a UUID is 32 hex, an aware UTC datetime
    is RFC 3339 with Z and microseconds only where it has some.
    """
    return _ENCODER.encode(data)


def _plain(value: object) -> object:
    if isinstance(value, jiter.LosslessFloat):
        return msgspec.Raw(bytes(value))
    raise NotImplementedError(f"{type(value).__name__} has no JSON form.")


def _not_json(name: str) -> NoReturn:
    raise Invalid(f"{name} is not JSON. Send a number, or leave it out.")


_ENCODER = msgspec.json.Encoder(enc_hook=_plain, uuid_format="hex")
_CANONICAL = msgspec.json.Encoder(order="deterministic")
_AS_WRITTEN = json.JSONDecoder(
    parse_int=msgspec.Raw,
    parse_float=msgspec.Raw,
    parse_constant=_not_json,
)
