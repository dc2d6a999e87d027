"""What many descriptions of calls have in common."""

from tasks_app.api.described import Schema

OK = {200: "As asked."}
ONCE = {201: "Accepted.", 200: "The same key again: what was answered the first time."}
CONFLICT = {409: "Conflict"}
REVIEWER = {403: "ReviewForbidden"}
NO_QUEUE = {404: "NotFound"}


def query(name: str, schema: Schema, words: str, **more: object) -> Schema:
    """A query parameter as the document describes it."""
    return {"name": name, "in": "query", "schema": schema, "description": words, **more}


def limit(default: int, maximum: int) -> Schema:
    """How long a page is."""
    schema = {"type": "integer", "minimum": 1, "maximum": maximum, "default": default}
    return query("limit", schema, "How many at most.")


TEXT = {"type": "string"}
HEX = {"type": "string", "pattern": "^[0-9a-f]{32}$"}
MOMENT = {"type": "string", "format": "date-time"}
CURSOR = query(
    "cursor",
    {"type": "string", "maxLength": 1024},
    "The next_cursor of the page before; bound to this list.",
)
PAGE = (limit(20, 100), CURSOR)
