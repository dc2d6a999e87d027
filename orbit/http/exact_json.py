"""JSON that keeps every digit, and the refusal of JSON that is not exact."""

import hashlib
import json
import re
from array import array
from collections.abc import Iterable, Mapping
from itertools import accumulate
from typing import IO, Any, NoReturn, TypeVar

import jiter
import msgspec
from rest_framework.exceptions import APIException
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request

from orbit.errors import Invalid
from orbit.http.json_faults import explain_shape, explain_text

BODY_LIMIT = 512 * 1024
MAX_NESTING = 100
MEDIA_TYPE = "application/json"

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


class BodyTooLarge(APIException):
    """The body is over the limit; no more than the limit of it was read."""

    status_code = 413
    default_code = "BODY_TOO_LARGE"
    default_detail = f"The body is over {BODY_LIMIT} bytes. Send less at once."


class ExactJSONParser(BaseParser):
    """Answers the checked bytes of the body as `request.data`."""

    media_type = MEDIA_TYPE

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,  # noqa: ARG002 - DRF's signature
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:  # noqa: ANN401 - DRF's signature
        """The body, at most BODY_LIMIT bytes; raises BodyTooLarge and Invalid."""
        length = _declared_length(parser_context or {})
        if length is not None and length > BODY_LIMIT:
            raise BodyTooLarge
        body: bytes = stream.read(BODY_LIMIT + 1)
        if len(body) > BODY_LIMIT:
            raise BodyTooLarge
        if length is not None and len(body) < length:
            raise Invalid("The body ended before its Content-Length. Send it again.")
        check(body)
        return body


def _declared_length(parser_context: Mapping[str, Any]) -> int | None:
    request = parser_context.get("request")
    written = request.META.get("CONTENT_LENGTH") if request else None
    return int(written) if written else None


class ExactJSONRenderer(BaseRenderer):
    """Writes the whole envelope in one pass."""

    media_type = MEDIA_TYPE
    format = "json"
    charset = None
    render_style = "binary"

    def render(
        self,
        data: Any,  # noqa: ANN401 - DRF's signature
        accepted_media_type: str | None = None,  # noqa: ARG002
        renderer_context: Mapping[str, Any] | None = None,  # noqa: ARG002
    ) -> Any:  # noqa: ANN401
        """`data` as JSON; nothing at all for None."""
        return b"" if data is None else encode(data)


class JSONOnly(BaseContentNegotiation):
    """JSON in and JSON out, whatever the Accept header says."""

    def select_parser(
        self, request: Request, parsers: Iterable[BaseParser]
    ) -> BaseParser | None:
        """The first parser if the body says that it is JSON; None answers 415."""
        sent = (request.content_type or "").partition(";")[0].strip().lower()
        return next(iter(parsers)) if sent == MEDIA_TYPE else None

    def select_renderer(
        self,
        request: Request,  # noqa: ARG002 - DRF's signature
        renderers: Iterable[BaseRenderer],
        format_suffix: str | None = None,  # noqa: ARG002
    ) -> tuple[BaseRenderer, str]:
        """The first renderer of the view."""
        renderer = next(iter(renderers))
        return renderer, renderer.media_type
