"""Query parameters read strictly, and pages with a signed cursor."""

import base64
import binascii
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import msgspec
from django.core import signing
from django.http import HttpRequest
from rest_framework.request import Request

from orbit.errors import Invalid
from orbit.http.exact_json import encode

CURSOR_LIMIT = 1024
DEFAULT_LIMIT = 20
MAX_LIMIT = 100

Row = TypeVar("Row")
Position = TypeVar("Position")


def read_query(
    request: HttpRequest | Request, *, allowed: Collection[str]
) -> dict[str, str]:
    """The query parameters, each sent once and each of them `allowed`.

    Raises Invalid with the parameter as its field.
    """
    query: dict[str, str] = {}
    for name, values in request.GET.lists():
        if name not in allowed:
            known = ", ".join(sorted(allowed)) or "none"
            raise Invalid(
                f"There is no such query parameter. Known here: {known}.",
                field=name[:100],
            )
        if len(values) != 1:
            raise Invalid(f"Send `{name}` once.", field=name)
        if "\x00" in values[0] or "\N{REPLACEMENT CHARACTER}" in values[0]:
            raise Invalid(f"`{name}` must be UTF-8 text without NUL.", field=name)
        query[name] = values[0]
    return query


def read_limit(
    query: Mapping[str, str],
    *,
    name: str = "limit",
    default: int = DEFAULT_LIMIT,
    maximum: int = MAX_LIMIT,
) -> int:
    """The parameter `name` as a whole number, 1 to `maximum`; raises Invalid."""
    return read_whole(query, name=name, default=default, low=1, high=maximum)


def read_whole(
    query: Mapping[str, str], *, name: str, default: int, low: int, high: int
) -> int:
    """The parameter `name` as a whole number, `low` to `high`; raises Invalid."""
    written = query.get(name)
    if written is None:
        return default
    is_number = written.isascii() and written.isdecimal() and len(written) < 10  # noqa: PLR2004
    if not is_number or not low <= int(written) <= high:
        raise Invalid(
            f"`{name}` must be a whole number from {low} to {high}.", field=name
        )
    return int(written)


@dataclass(frozen=True, slots=True)
class Cursor:
    """Signs and reads positions of one list: whose, of what, and which query.

    A cursor of another namespace, subject or kind is refused like a forged one.
    """

    namespace: object
    subject: object
    kind: str

    def sign(self, position: Sequence[object]) -> str:
        """The opaque form of the sort values of a page's last row."""
        payload = base64.urlsafe_b64encode(encode(position)).rstrip(b"=").decode()
        signed = self._signer().sign(payload)
        if len(signed) > CURSOR_LIMIT:
            raise ValueError("The position is too long for a cursor.")
        return signed

    def read(self, cursor: str, shape: type[Position]) -> Position:
        """The position, such as a tuple[datetime, UUID]; raises Invalid."""
        if len(cursor) > CURSOR_LIMIT:
            raise Invalid(
                f"`cursor` is over {CURSOR_LIMIT} characters.", field="cursor"
            )
        try:
            payload = self._signer().unsign(cursor).encode()
            padding = b"=" * (-len(payload) % 4)
            position = base64.urlsafe_b64decode(payload + padding)
            return msgspec.json.decode(position, type=shape)
        except (signing.BadSignature, binascii.Error, ValueError):
            raise Invalid(
                "`cursor` is not one that this list gave out. Begin without one.",
                field="cursor",
            ) from None

    def _signer(self) -> signing.Signer:
        binding = encode([str(self.namespace), str(self.subject), self.kind])
        return signing.Signer(sep=".", salt=f"orbit.http.paging:{binding.decode()}")


def page(
    rows: Sequence[Row],
    limit: int,
    next_cursor: Callable[[Row], str],
    *,
    item: Callable[[Row], object] | None = None,
) -> dict[str, object]:
    """The page {"items", "next_cursor"?} of `limit` rows.

    Fetch one row more than `limit`: it alone says that there is a next page.
    `next_cursor` signs the last row shown; `item` turns a row into its JSON form.
    """
    shown = rows[:limit]
    data: dict[str, object] = {"items": [item(row) for row in shown] if item else shown}
    if len(rows) > limit:
        data["next_cursor"] = next_cursor(shown[-1])
    return data
