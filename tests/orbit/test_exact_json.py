import datetime
import enum
import json
import uuid
from typing import Annotated, Literal

import jiter
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orbit.errors import Invalid
from orbit.exact_json import canonical, check, decode, digest, encode
from orbit.http.exact_json import BODY_LIMIT

EXACT = (
    "9007199254740993",
    "123456789012345678901234567890",
    "1.10",
    "1E400",
    "-0",
    "-0.0",
    "1e-999",
    "1" * 5000,
    "1" * 5000 + ".5",
    "1E" + "9" * 5000,
)


class Kind(enum.StrEnum):
    SAFE = "SAFE"
    UNSAFE = "UNSAFE"


class Retry(msgspec.Struct, forbid_unknown_fields=True):
    max_attempts: Annotated[int, msgspec.Meta(ge=1, le=100)]


class Submit(msgspec.Struct, forbid_unknown_fields=True):
    queue_id: str
    payload: msgspec.Raw
    retry: Retry | None = None
    kind: Kind = Kind.SAFE
    colour: Literal["blue", "red"] = "red"
    stages: list[Retry] = []
    counts: dict[str, int] = {}


def refused(body):
    with pytest.raises(Invalid) as caught:
        check(body)
    return caught.value.message


def misshapen(**members):
    body = {"queue_id": "q", "payload": 1, **members}
    with pytest.raises(Invalid) as caught:
        decode(json.dumps(body).encode(), Submit)
    return caught.value.field, caught.value.message


@pytest.mark.parametrize("number", EXACT, ids=lambda number: number[:12])
def test_a_number_keeps_every_digit_from_body_to_answer(number):
    body = f'{{"queue_id":"q","payload":{{"amount": {number} }}}}'.encode()
    payload = decode(body, Submit).payload
    assert bytes(payload) == f'{{"amount": {number} }}'.encode()
    assert encode({"data": payload}) == (f'{{"data":{{"amount": {number} }}}}'.encode())
    assert canonical(bytes(payload)) == f'{{"amount":{number}}}'.encode()


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"", "Send a JSON object."),
        (b" \n", "Send a JSON object."),
        (b'{"a":1,"a":2}', 'The key "a" appears twice in one object (line 1'),
        (b'{"a":1,"\\u0061":2}', 'The key "a" appears twice'),
        (b'{"o":{"a":1,"a":1}}', "appears twice"),
        (b'"\\u0000"', "U+0000"),
        (b'{"\\u0000":1}', "U+0000"),
        (b'"\\\\\\u0000"', "U+0000"),
        (b'"a\x00b"', "control character"),
        (b'"\\ud800"', "surrogate pair"),
        (b'"\\udc00"', "surrogate pair"),
        (b'"\\ud800\\u0041"', "surrogate"),
        (b'"\\udc00\\ud800"', "surrogate"),
        (b'{"\\ud800":1}', "surrogate"),
        (b'"\xed\xa0\x80"', "UTF-8"),
        (b'"\xff"', "UTF-8"),
        (b'"\xc0\x80"', "UTF-8"),
        (b'"\xf4\x90\x80\x80"', "UTF-8"),
        (b'"\xe2\x82"', "UTF-8"),
        (b"\xef\xbb\xbf{}", "byte order mark"),
        (b"[NaN]", "NaN, Infinity"),
        (b"[Infinity]", "NaN, Infinity"),
        (b"[-Infinity]", "not valid JSON"),
        (b"{} {}", "follows the JSON value"),
        (b"{}\x00", "follows the JSON value"),
        (b"1" * 5000 + b"x", "follows the JSON value"),
        (b'{"a":1', "ends too early"),
        (b"[1,]", "comma"),
        (b"{'a':1}", "double quotes"),
        (b"[01]", "not valid JSON"),
        (b"[+1]", "missing"),
        (b"[.5]", "missing"),
        (b"[1.]", "not valid JSON"),
        (b"/**/1", "missing"),
        (b"\xff\xfe1\x00", "missing"),
        (b"[" * 101 + b"]" * 101, "100 levels"),
        (b'{"a":' * 101 + b"1" + b"}" * 101, "100 levels"),
        (b"[" * 5000 + b"]" * 5000, "100 levels"),
    ],
    ids=repr,
)
def test_json_that_is_not_exact_is_refused(body, words):
    assert words in refused(body)


@pytest.mark.parametrize(
    "body",
    [
        b"[" * 100 + b"]" * 100,
        b'["' + b"[{" * 300 + b'"]',
        b"[" + b"[]," * 300 + b"[]]",
        b'"\\\\u0000"',
        b'"\\\\\\\\u0000"',
        b'"\\ud83d\\ude00"',
        b'" \xf0\x9f\x98\x80"',
        b' \t\r\n{"a" : null } ',
        b'["' + b"1" * 6000 + b'",' + b"1" * 6000 + b',"\\"' + b"2" * 6000 + b'"]',
    ],
    ids=lambda body: repr(body[:24]),
)
def test_json_that_only_looks_odd_is_accepted(body):
    check(body)


def test_a_message_does_not_repeat_a_caller_without_bound():
    key = b'"' + b"k" * 200_000 + b'":1'
    assert len(refused(b"{" + key + b"," + key + b"}")) < 300
    field, message = misshapen(**{"k" * 200_000: 1})
    assert len(field) < 300
    assert len(message) < 300


@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers()
        | st.text(st.characters(codec="utf-8")),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=4), inner),
        max_leaves=20,
    )
)
def test_check_accepts_what_is_json_but_for_nul(value):
    body = json.dumps(value).encode()
    has_nul = "\\u0000" in json.dumps(value).replace("\\\\", "")
    if has_nul:
        assert "U+0000" in refused(body)
    else:
        check(body)
        assert json.loads(canonical(body)) == value


@given(st.binary(max_size=40) | st.text('[]{}",:\\u01eE-.fnt ', max_size=40))
def test_no_body_makes_the_check_fail_otherwise_than_by_refusing(body):
    raw = body if isinstance(body, bytes) else body.encode()
    try:
        check(raw)
    except Invalid:
        return
    canonical(raw)


@pytest.mark.parametrize(
    "body",
    [
        b'"' + b'\\"' * 250_000 + b'"',
        b'"' + b"\\\\" * 250_000 + b'\\\\u0000"',
        b"1" * 500_000,
        b"1" * 5000 + b'"' + b'\\"' * 250_000,
        b"[" + b"[]," * 170_000 + b"[]]",
    ],
    ids=["quotes", "backslashes", "digits", "unterminated", "brackets"],
)
def test_a_hostile_body_of_full_size_is_judged_in_one_pass(body):
    assert len(body) <= BODY_LIMIT
    try:
        check(body)
    except Invalid:
        return


def test_a_wrong_root_names_no_field():
    with pytest.raises(Invalid) as caught:
        decode(b"[]", Submit)
    assert caught.value.field is None
    assert caught.value.message == (
        "Send a JSON object: expected an object, got an array."
    )


def test_a_missing_field_is_named():
    with pytest.raises(Invalid) as caught:
        decode(b'{"payload":1}', Submit)
    assert caught.value.field == "queue_id"
    assert misshapen(retry={}) == (
        "retry.max_attempts",
        "`retry.max_attempts` is missing. Send it.",
    )


@pytest.mark.parametrize("alias", ["queueId", "QueueID", "Queue_Id", "queue-id"])
def test_another_case_is_an_unknown_field_with_a_hint(alias):
    assert misshapen(**{alias: "q"}) == (
        alias,
        f"`{alias}` is not a known field. Did you mean `queue_id`?",
    )


def test_an_unknown_field_deep_inside_is_named_by_its_path():
    assert misshapen(retry={"max_attempts": 1, "zzz": 1}) == (
        "retry.zzz",
        "`retry.zzz` is not a known field. Remove it.",
    )
    field, message = misshapen(stages=[{"max_attempts": 1, "maxAttempts": 1}])
    assert field == "stages[0].maxAttempts"
    assert "Did you mean `max_attempts`?" in message


@pytest.mark.parametrize(
    ("members", "field", "words"),
    [
        ({"queue_id": None}, "queue_id", "must not be null. Send a string."),
        ({"queue_id": 1}, "queue_id", "expected a string, got an integer"),
        ({"retry": 1}, "retry", "expected an object or null, got an integer"),
        ({"retry": {"max_attempts": 101}}, "retry.max_attempts", "an integer <= 100"),
        ({"retry": {"max_attempts": "1"}}, "retry.max_attempts", "got a string"),
        ({"retry": {"max_attempts": True}}, "retry.max_attempts", "got true or false"),
        ({"retry": {"max_attempts": 1.0}}, "retry.max_attempts", "got a number"),
        ({"kind": "safe"}, "kind", "must be one of: SAFE, UNSAFE."),
        ({"colour": "green"}, "colour", "must be one of: blue, red."),
        ({"stages": [{"max_attempts": 0}]}, "stages[0].max_attempts", ">= 1"),
        ({"counts": {"a": "b"}}, "counts[...]", "expected an integer"),
    ],
    ids=repr,
)
def test_a_value_of_the_wrong_kind_is_explained(members, field, words):
    named, message = misshapen(**members)
    assert named == field
    assert words in message


def test_an_integer_beyond_reason_in_a_typed_field_is_refused():
    body = b'{"queue_id":"q","payload":1,"retry":{"max_attempts":' + b"1" * 5000
    with pytest.raises(Invalid) as caught:
        decode(body + b"}}", Submit)
    assert caught.value.field == "retry.max_attempts"


def test_the_canonical_form_forgets_order_and_space_and_nothing_else():
    one = '{ "b" : [1.10, -0] , "a" : "\\u00e9\\/" }'
    other = b'{"a":"\xc3\xa9/","b":[1.10,-0]}'
    assert canonical(one) == canonical(other) == other
    assert digest(one) == digest(other)
    assert digest('{"a":1.1}') != digest('{"a":1.10}')
    assert digest("0") != digest("-0")


def test_the_canonical_form_sorts_keys_by_code_point():
    keys = ["😀", "\uffff", "é", "a", "Z", "aa", ""]
    written = canonical(json.dumps(dict.fromkeys(keys, 1)))
    assert list(json.loads(written)) == sorted(keys)


def test_an_id_is_written_as_hex_and_a_moment_with_z():
    moment = datetime.datetime(2026, 1, 2, 3, 4, 5, tzinfo=datetime.UTC)
    data = {
        "id": uuid.UUID(int=1),
        "whole": moment,
        "fine": moment.replace(microsecond=120_000),
        "exact": jiter.from_json(b"1.10", float_mode="lossless-float"),
        "large": 10**30,
    }
    assert encode(data) == (
        b'{"id":"00000000000000000000000000000001",'
        b'"whole":"2026-01-02T03:04:05Z","fine":"2026-01-02T03:04:05.120000Z",'
        b'"exact":1.10,"large":1000000000000000000000000000000}'
    )
