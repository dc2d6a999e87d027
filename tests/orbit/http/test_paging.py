from datetime import UTC, datetime
from functools import partial
from uuid import UUID

import pytest
from django.test import RequestFactory

from orbit.errors import Invalid
from orbit.http.paging import Cursor, page, read_limit, read_query

SHAPE = tuple[datetime, UUID]
WHEN = datetime(2026, 1, 2, 3, 4, 5, 123_457, tzinfo=UTC)
ID = UUID(int=7)
OPERATIONS = Cursor(namespace=UUID(int=1), subject=UUID(int=2), kind="operations")


def query(text, allowed=("limit", "cursor")):
    return read_query(RequestFactory().get(f"/v1/tasks?{text}"), allowed=allowed)


def refused_field(act):
    with pytest.raises(Invalid) as caught:
        act()
    return caught.value.field


def test_parameters_are_read_once_each():
    assert query("limit=5&cursor=x") == {"limit": "5", "cursor": "x"}
    assert query("") == {}


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("limit=5&limit=5", "limit"),
        ("Limit=5", "Limit"),
        ("page=1", "page"),
        ("cursor=%00", "cursor"),
        ("cursor=%ff", "cursor"),
        ("=", ""),
    ],
)
def test_a_repeated_unknown_or_unreadable_parameter_is_refused(text, field):
    assert refused_field(lambda: query(text)) == field


def test_the_limit_has_a_default_and_bounds():
    assert read_limit({}) == 20
    assert read_limit({"limit": "1"}) == 1
    assert read_limit({"limit": "100"}) == 100
    assert read_limit({"limit": "500"}, maximum=500) == 500


@pytest.mark.parametrize(
    "written",
    ["0", "101", "-1", "+1", "1.0", "", " 1", "\u0661", "1_0", "9" * 5000, "²"],
)
def test_any_other_limit_is_refused(written):
    assert refused_field(lambda: read_limit({"limit": written})) == "limit"


def test_a_cursor_keeps_microseconds_and_is_url_safe():
    cursor = OPERATIONS.sign([WHEN, ID])
    assert OPERATIONS.read(cursor, SHAPE) == (WHEN, ID)
    assert query(f"cursor={cursor}")["cursor"] == cursor
    assert len(cursor) < 200


@pytest.mark.parametrize(
    "other",
    [
        Cursor(namespace=UUID(int=9), subject=UUID(int=2), kind="operations"),
        Cursor(namespace=UUID(int=1), subject=UUID(int=9), kind="operations"),
        Cursor(namespace=UUID(int=1), subject=UUID(int=2), kind="attempts"),
        Cursor(namespace=f"{UUID(int=1)}:{UUID(int=2)}", subject="", kind="operations"),
    ],
)
def test_a_cursor_of_another_list_is_refused(other):
    cursor = OPERATIONS.sign([WHEN, ID])
    assert refused_field(lambda: other.read(cursor, SHAPE)) == "cursor"


def test_a_forged_cursor_is_refused():
    cursor = OPERATIONS.sign([WHEN, ID])
    swapped = "A" if cursor[5] != "A" else "B"
    for text in (
        "",
        ".",
        "x",
        "x.y",
        "é" * 10,
        "\x00",
        cursor[:-1],
        f"{cursor}A",
        f"{cursor[:5]}{swapped}{cursor[6:]}",
        "A" * 1025,
    ):
        assert refused_field(partial(OPERATIONS.read, text, SHAPE)) == "cursor"


def test_a_signed_position_of_another_shape_is_refused():
    cursor = OPERATIONS.sign(["not a time", ID])
    assert refused_field(lambda: OPERATIONS.read(cursor, SHAPE)) == "cursor"


def test_a_cursor_survives_the_rotation_of_the_secret_key(settings):
    cursor = OPERATIONS.sign([WHEN, ID])
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = "n" * 40
    assert OPERATIONS.read(cursor, SHAPE) == (WHEN, ID)
    settings.SECRET_KEY_FALLBACKS = []
    assert refused_field(lambda: OPERATIONS.read(cursor, SHAPE)) == "cursor"


def test_a_position_too_long_for_a_cursor_is_a_mistake_of_ours():
    with pytest.raises(ValueError, match="too long"):
        OPERATIONS.sign(["x" * 1000])


def test_a_page_has_a_next_cursor_only_when_there_is_more():
    assert page([1, 2, 3], 3, str) == {"items": [1, 2, 3]}
    assert page([1, 2, 3], 2, str) == {"items": [1, 2], "next_cursor": "2"}
    assert page([], 2, str) == {"items": []}
    assert page([1, 2], 1, str, item=hex) == {"items": ["0x1"], "next_cursor": "1"}
