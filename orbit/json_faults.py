"""Words for what is wrong with a JSON body, and the path of the member to blame."""

import difflib
import re
from collections.abc import Iterator

from msgspec import inspect

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
SHOWN = 100  # characters of a caller's name that an answer repeats

WITH_POSITION = re.compile(
    r"(?P<what>.*) at line (?P<line>\d+) column (?P<column>\d+)", re.DOTALL
)
WITH_PATH = re.compile(r"(?P<what>.*) - at `\$(?P<path>.*)`", re.DOTALL)
UNKNOWN = re.compile(r"Object contains unknown field `(?P<name>.*)`", re.DOTALL)
MISSING = re.compile(r"Object missing required field `(?P<name>.*)`", re.DOTALL)
WRONG_TYPE = re.compile(r"Expected `(?P<wanted>.+)`, got `(?P<got>\w+)`")
SEGMENT = re.compile(r"\.([^.\[]+)|(\[[^\]]*\])")

# How the reader's own messages begin, and what a caller should do about each.
ADVICE = (
    ("EOF while parsing", "The JSON ends too early{where}. Send the whole value."),
    ("trailing characters", "Something follows the JSON value{where}. Send one value."),
    ("trailing comma", "A comma has nothing after it{where}. Remove it."),
    ("key must be a string", "A key is not in double quotes{where}. Quote it."),
    ("invalid unicode code point", "The text is not valid UTF-8{where}. Send UTF-8."),
    (
        "lone leading surrogate",
        "A string has half of a surrogate pair{where}. Send the whole pair.",
    ),
    (
        "unexpected end of hex escape",
        "A \\u escape is incomplete or half of a surrogate pair{where}. Complete it.",
    ),
    (
        "control character",
        "A string contains a raw control character{where}. Escape it.",
    ),
    (
        "recursion limit exceeded",
        "The JSON is nested deeper than 100 levels. Flatten it.",
    ),
    (
        "expected value",
        "A JSON value is missing{where}. NaN, Infinity and comments are none.",
    ),
)
TYPE_WORDS = {
    "array": "an array",
    "bool": "true or false",
    "bytes": "a base64 string",
    "datetime": "an RFC 3339 time",
    "float": "a number",
    "int": "an integer",
    "null": "null",
    "object": "an object",
    "str": "a string",
    "uuid": "a UUID",
}


def explain_text(fault: str, body: bytes) -> str:
    """What to tell a caller whose body the reader refused with `fault`."""
    if body.startswith(BYTE_ORDER_MARK):
        return "The body begins with a byte order mark. Send plain UTF-8."
    if not body.strip():
        return "Send a JSON object."
    found = WITH_POSITION.fullmatch(fault)
    what = found["what"] if found else fault
    where = f" (line {found['line']}, column {found['column']})" if found else ""
    if what.startswith("Detected duplicate key "):
        key = _shown(what.removeprefix("Detected duplicate key ").strip('"'))
        return f'The key "{key}" appears twice in one object{where}. Send it once.'
    for beginning, advice in ADVICE:
        if what.startswith(beginning):
            return advice.format(where=where)
    return f"The body is not valid JSON: {_shown(what)}{where}."


def explain_shape(fault: str, shape: type) -> tuple[str, str | None]:
    """What to tell a caller whose JSON is not a `shape`, and the member's path."""
    found = WITH_PATH.fullmatch(fault)
    what = found["what"] if found else fault
    parent = found["path"] if found else ""
    path = parent.removeprefix(".")
    if unknown := UNKNOWN.fullmatch(what):
        name = _shown(unknown["name"])
        field = f"{path}.{name}" if path else name
        return f"`{field}` is not a known field.{_hint(name, shape, parent)}", field
    if missing := MISSING.fullmatch(what):
        field = f"{path}.{missing['name']}" if path else missing["name"]
        return f"`{field}` is missing. Send it.", field
    if not path:
        return f"Send a JSON object: {_in_words(what)}.", None
    return _explain_value(what, path=path, parent=parent, shape=shape), path


def _explain_value(what: str, *, path: str, parent: str, shape: type) -> str:
    wrong = WRONG_TYPE.fullmatch(what)
    if wrong and wrong["got"] == "null":
        return f"`{path}` must not be null. Send {_type_words(wrong['wanted'])}."
    if what.startswith("Invalid enum value"):
        choices = ", ".join(str(choice) for choice in _choices(shape, parent))
        return f"`{path}` must be one of: {choices}."
    return f"`{path}` is not acceptable: {_in_words(what)}."


def _in_words(what: str) -> str:
    """The library's own message with its type names in plain words."""
    plain = re.sub(r"`([^`]*)`", lambda quoted: _type_words(quoted[1]), what, count=2)
    return _shown(plain[:1].lower() + plain[1:], limit=300)


def _type_words(names: str) -> str:
    return " or ".join(TYPE_WORDS.get(name, f"`{name}`") for name in names.split(" | "))


def _hint(name: str, shape: type, parent: str) -> str:
    """The known field that a caller probably meant, as a sentence."""
    known: dict[str, str] = {}
    for kind in _kinds(shape, parent):
        if isinstance(kind, inspect.StructType):
            known |= {
                _folded(field.encode_name): field.encode_name for field in kind.fields
            }
    near = difflib.get_close_matches(_folded(name), known, n=1, cutoff=0.75)
    return f" Did you mean `{known[near[0]]}`?" if near else " Remove it."


def _folded(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _choices(shape: type, parent: str) -> Iterator[object]:
    for kind in _kinds(shape, parent):
        if isinstance(kind, inspect.EnumType):
            yield from (member.value for member in kind.cls)
        elif isinstance(kind, inspect.LiteralType):
            yield from kind.values


def _kinds(shape: type, path: str) -> list[inspect.Type]:
    """The types that `shape` allows at `path`, such as `.retry` or `.items[3].kind`."""
    kinds = _alternatives(inspect.type_info(shape))
    for name, index in SEGMENT.findall(path):
        inner = (_inner(kind, name=name, index=index) for kind in kinds)
        kinds = [deep for kind in inner if kind for deep in _alternatives(kind)]
    return kinds


def _alternatives(kind: inspect.Type) -> list[inspect.Type]:
    if isinstance(kind, inspect.Metadata):
        return _alternatives(kind.type)
    return list(kind.types) if isinstance(kind, inspect.UnionType) else [kind]


def _inner(kind: inspect.Type, *, name: str, index: str) -> inspect.Type | None:
    if name and isinstance(kind, inspect.StructType):
        return next((f.type for f in kind.fields if f.encode_name == name), None)
    if index == "[...]" and isinstance(kind, inspect.DictType):
        return kind.value_type
    if index and isinstance(kind, inspect.ListType | inspect.VarTupleType):
        return kind.item_type
    return None


def _shown(text: str, *, limit: int = SHOWN) -> str:
    return text if len(text) <= limit else f"{text[:limit]}…"
