"""Every rule of a review's body: what breaks one is named, and nothing is touched."""

import pytest

from tasks_app.domain.commands import MAX_RESULT_BYTES
from tests.builders import a_task, a_token, every_row
from tests.tasks_app.api.calls import Caller, a_review, with_member

pytestmark = pytest.mark.django_db

ASTRAL = "😀"

# The member, and the JSON text that is refused in its place.
REFUSED = [
    *(
        ("expected_revision", raw)
        for raw in (
            *("null", "3", "3.0", "true", "[]", "{}", '""', '"0"', '"03"', '"-3"'),
            *('" 3"', '"3 "', '"3\\n"', '"+3"', '"3.0"', '"0x3"', '"\uff13"', '"abc"'),
            *('"9223372036854775808"', '"' + "9" * 5_000 + '"', "9" * 40),
        )
    ),
    *(
        ("reason", raw)
        for raw in (
            *("null", "1", "true", "[]", "{}", '""', '" "', '"\\t\\n"', '"\u3000"'),
            *(f'"{"x" * 1025}"', f'"{ASTRAL * 1025}"', f'"{"审" * 1025}"'),
        )
    ),
    *(
        ("evidence_ref", raw)
        for raw in (
            *("null", "1", "true", "[]", '""', '" "', '"a b"', '" a"', '"a\\n"'),
            *('"a\\u0001"', '"a\\u007f"', '"a\u00a0b"', '"a\u2028b"', '"a\\u0085b"'),
            *(f'"{"x" * 513}"', f'"{ASTRAL * 513}"'),
        )
    ),
    *(
        ("execution_settled", raw)
        for raw in ("false", "null", '"true"', "1", "[]", "{}", '"yes"')
    ),
    *(
        ("outcome", raw)
        for raw in (
            *("null", '"CANCELLED"', '"UNKNOWN"', '"failed"', '""', "true", "1", "[]"),
            *('"FAILED "', '"NEEDS_REVIEW"'),
        )
    ),
    *(
        ("result", raw)
        for raw in (
            *("null", " null "),
            '"' + "x" * (MAX_RESULT_BYTES - 1) + '"',
            "[" + "1," * (MAX_RESULT_BYTES // 2) + "1]",
        )
    ),
]
MEMBERS = (
    "expected_revision",
    "reason",
    "evidence_ref",
    "execution_settled",
    "outcome",
    "result",
)
UNKNOWN = (
    *("Reason", "REASON", "expectedRevision", "Expected_Revision", "evidenceRef"),
    *("actor_id", "Result", "safe_to_retry", "state", "reason ", "", "$schema"),
)


@pytest.mark.parametrize("field", sorted({field for field, _ in REFUSED}))
def test_a_member_that_breaks_a_rule_is_named_and_nothing_is_touched(field):
    task = a_task(state="NEEDS_REVIEW")
    caller = Caller(a_token(task.queue))
    before = every_row()

    for raw in (raw for name, raw in REFUSED if name == field):
        answer = caller.post(
            f"tasks/{task.id.hex}:review", with_member(a_review(task), field, raw)
        )
        assert answer.refusal == (400, "INVALID_ARGUMENT", field), raw[:80]

    assert every_row() == before


@pytest.mark.parametrize("field", MEMBERS)
def test_a_missing_member_is_named(field):
    task = a_task(state="NEEDS_REVIEW")
    body = a_review(task)
    del body[field]
    before = every_row()

    answer = Caller(a_token(task.queue)).post(f"tasks/{task.id.hex}:review", body)

    assert answer.refusal == (400, "INVALID_ARGUMENT", field)
    assert every_row() == before


def test_an_unknown_member_is_refused_in_whatever_case_it_is_written():
    task = a_task(state="NEEDS_REVIEW")
    caller = Caller(a_token(task.queue))
    before = every_row()

    for name in UNKNOWN:
        answer = caller.post(
            f"tasks/{task.id.hex}:review", {**a_review(task), name: "x"}
        )
        assert answer.refusal[:2] == (400, "INVALID_ARGUMENT"), name
        assert answer.error["field"] == name

    assert every_row() == before


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("reason", "x"),
        ("reason", "x" * 1024),
        ("reason", ASTRAL * 1024),
        ("reason", " spoken \n with gaps "),
        ("evidence_ref", "x" * 512),
        ("evidence_ref", ASTRAL * 512),
        ("evidence_ref", "https://evidence.example/1?a=b#c"),
        ("outcome", "SUCCEEDED"),
        ("result", False),
        ("result", 0),
        ("result", ""),
        ("result", {}),
        ("result", {"null": None}),
        ("result", "x" * (MAX_RESULT_BYTES - 2)),
    ],
    ids=lambda value: str(value)[:16],
)
def test_a_member_at_the_edge_of_its_rule_is_accepted(field, value):
    task = a_task(state="NEEDS_REVIEW")
    body = a_review(task, **{field: value})

    answer = Caller(a_token(task.queue)).post(f"tasks/{task.id.hex}:review", body)

    assert answer.status == 200, answer.text[:500]
    if field == "result":
        assert answer.data["task"]["result"] == value


def test_reason_and_reference_are_kept_word_for_word():
    task = a_task(state="NEEDS_REVIEW")
    caller = Caller(a_token(task.queue))
    body = a_review(
        task, reason=" 已核实\n\U0001d4b3 \\u0000 ", evidence_ref="证据:\U0001d4b3"
    )

    audit_id = caller.post(f"tasks/{task.id.hex}:review", body).data["audit_id"]
    audit = caller.get(f"tasks/{task.id.hex}/operations/{audit_id}").data

    assert (audit["reason"], audit["evidence_ref"]) == (
        body["reason"],
        body["evidence_ref"],
    )


@pytest.mark.parametrize("raw", ["[]", '"x"', "1", "null", "true", "{}"])
def test_a_body_that_is_not_the_whole_object_is_refused(raw):
    task = a_task(state="NEEDS_REVIEW")

    answer = Caller(a_token(task.queue)).post(f"tasks/{task.id.hex}:review", raw)

    assert (answer.status, answer.error["code"]) == (400, "INVALID_ARGUMENT")


def test_a_refused_body_leaves_its_key_free():
    task = a_task(state="NEEDS_REVIEW")
    caller = Caller(a_token(task.queue))
    path = f"tasks/{task.id.hex}:review"
    assert caller.post(path, a_review(task, reason=" "), key="k").status == 400

    answer = caller.post(path, a_review(task), key="k")

    assert answer.status == 200
    assert answer.data["deduplicated"] is False
