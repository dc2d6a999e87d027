"""What a generation of a retry chain changed, told by JSON paths."""

import json
from collections.abc import Iterator
from itertools import islice
from typing import Any

MAX_PATHS = 50
_MISSING = object()
# Numbers stay text, so that 1.10 and 1.1 differ and no digit is lost.
_DECODER = json.JSONDecoder(
    parse_int=lambda text: ("number", text), parse_float=lambda text: ("number", text)
)


def changed_paths(before: str, after: str) -> list[str]:
    """JSON pointers to what differs between two exact JSON texts, at most MAX_PATHS.

    "" is the whole value. What is the same but for white space or the order of
    members does not differ.
    """
    found = _differing(_DECODER.decode(before), _DECODER.decode(after), "")
    return list(islice(found, MAX_PATHS))


def _differing(before: Any, after: Any, path: str) -> Iterator[str]:  # noqa: ANN401
    if isinstance(before, dict) and isinstance(after, dict):
        for name in sorted(before.keys() | after.keys()):
            step = name.replace("~", "~0").replace("/", "~1")
            yield from _differing(
                before.get(name, _MISSING), after.get(name, _MISSING), f"{path}/{step}"
            )
    elif isinstance(before, list) and isinstance(after, list):
        for index in range(max(len(before), len(after))):
            yield from _differing(
                _item(before, index), _item(after, index), f"{path}/{index}"
            )
    elif type(before) is not type(after) or before != after:
        yield path


def _item(values: list[Any], index: int) -> Any:  # noqa: ANN401
    return values[index] if index < len(values) else _MISSING
