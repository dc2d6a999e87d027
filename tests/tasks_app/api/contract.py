"""Holds answers of /v1 to the OpenAPI document, more strictly than a client must."""

import copy
import functools
import json
import re
from collections.abc import Mapping
from typing import Any

import jsonschema_rs

from tasks_app.api.document import document

EXACT_IN_A_DOUBLE = 2**53


class Broken(AssertionError):
    """An answer that the document does not allow."""


def hold(*, method: str, path: str, status: int, headers: Any, text: bytes) -> None:
    """Raise Broken unless the document has this answer; other paths are let pass."""
    operation = _operation(method, path)
    if operation is None:
        return
    where = f"{method} {path} -> {status}: {text[:2000]!r}"
    described = operation["responses"].get(str(status))
    if described is None:
        raise Broken(f"An undocumented status. {where}")
    response = _resolved(described)
    missing = [name for name in response["headers"] if name not in headers]
    if missing:
        raise Broken(f"Without the headers {missing}. {where}")
    (media_type,) = response["content"]
    if headers["Content-Type"] != media_type:
        raise Broken(f"As {headers['Content-Type']}. {where}")
    schema = response["content"][media_type]["schema"]
    faults = list(validator(json.dumps(schema)).iter_errors(_read(text)))
    if faults:
        raise Broken(f"{[str(fault) for fault in faults][:3]} in {where}")


@functools.cache
def validator(schema: str) -> Any:
    """The validator of a schema (as JSON text) that refuses unknown members."""
    envelope = {"additionalProperties": False, **json.loads(schema)}
    if "$ref" in envelope:
        del envelope["additionalProperties"]
    whole = {**envelope, "components": _strict()["components"]}
    return jsonschema_rs.Draft202012Validator(whole, validate_formats=True)


@functools.cache
def _strict() -> dict[str, Any]:
    strict: dict[str, Any] = copy.deepcopy(document())
    for schema in strict["components"]["schemas"].values():
        if "properties" in schema:
            schema.setdefault("additionalProperties", False)
    return strict


@functools.cache
def _paths() -> list[tuple[re.Pattern[str], Mapping[str, Any]]]:
    return [
        (re.compile(re.sub(r"\\{\w+\\}", "[0-9a-f]{32}", re.escape(path))), calls)
        for path, calls in document()["paths"].items()
    ]


def _operation(method: str, path: str) -> Mapping[str, Any] | None:
    for pattern, calls in _paths():
        if pattern.fullmatch(path):
            found: Mapping[str, Any] | None = calls.get(method.lower())
            return found
    return None


def _resolved(described: Mapping[str, Any]) -> Mapping[str, Any]:
    if "$ref" not in described:
        return described
    name = described["$ref"].rpartition("/")[2]
    found: Mapping[str, Any] = document()["components"]["responses"][name]
    return found


def _read(text: bytes) -> object:
    # Only the kinds of values matter here, and a double cannot hold every number.
    return json.loads(text, parse_float=lambda _: 0.5, parse_int=_small)


def _small(written: str) -> int:
    return int(written) if len(written) < 16 else EXACT_IN_A_DOUBLE
