"""Every rule of a retry's body: what breaks one is named, and nothing is touched."""

from datetime import UTC, datetime, timedelta

import pytest

from orbit import clock
from tests.builders import a_task, a_token, every_row, moment_in
from tests.tasks_app.api.calls import Caller, a_retry, with_member

pytestmark = pytest.mark.django_db

MONTH = 2_592_000_000
MOMENTS = (
    *("1", "true", "[]", '""', '"now"', '"2026-09-17"', '"2026-09-17T00:00:00"'),
    *('"2026-09-17T00:00:00+01:00"', '"2026-09-17T00:00:00.1234567Z"'),
    *('"1999-12-31T23:59:59Z"', '"9999-01-01T00:00:00Z"', '"2026-02-30T00:00:00Z"'),
    *('"2026-09-17T00:00:00Z\\n"', '"2001-01-01T00:00:00Z"', '"9998-01-01T00:00:00Z"'),
)
REFUSED = [
    *(
        ("expected_revision", raw)
        for raw in ("null", "3", '"0"', '"01"', '" 3"', '"3\\n"', f'"{"9" * 100}"')
    ),
    *(
        ("reason", raw)
        for raw in ("null", "1", '""', '" "', f'"{"x" * 1025}"', f'"{"😀" * 1025}"')
    ),
    *(
        ("evidence_ref", raw)
        for raw in ("null", "1", '""', '"a b"', '"a\\u001f"', f'"{"x" * 513}"')
    ),
    *(
        ("safe_to_retry", raw)
        for raw in ("false", "null", '"true"', "1", "[]", "{}", "0")
    ),
    *(
        ("task_timeout_ms", raw)
        for raw in (
            *("null", "0", "-1", "1", "9999", '"60000"', "60000.5", "true", "[]"),
            *(str(MONTH + 1), "18446744073709551616", "9" * 400),
        )
    ),
    *(("available_at", raw) for raw in MOMENTS),
    *(("start_deadline_at", raw) for raw in MOMENTS),
]
MEMBERS = (
    "expected_revision",
    "reason",
    "evidence_ref",
    "safe_to_retry",
    "task_timeout_ms",
)


def written(moment):
    return moment.isoformat().replace("+00:00", "Z")


@pytest.mark.parametrize("field", sorted({field for field, _ in REFUSED}))
def test_a_member_that_breaks_a_rule_is_named_and_nothing_is_touched(field):
    task = a_task(state="FAILED")
    caller = Caller(a_token(task.queue))
    before = every_row()

    for raw in (raw for name, raw in REFUSED if name == field):
        answer = caller.post(
            f"tasks/{task.id.hex}:retry", with_member(a_retry(task), field, raw)
        )
        assert answer.refusal == (400, "INVALID_ARGUMENT", field), raw[:80]

    assert every_row() == before


@pytest.mark.parametrize("field", MEMBERS)
def test_a_missing_member_is_named(field):
    task = a_task(state="FAILED")
    body = a_retry(task)
    del body[field]
    before = every_row()

    answer = Caller(a_token(task.queue)).post(f"tasks/{task.id.hex}:retry", body)

    assert answer.refusal == (400, "INVALID_ARGUMENT", field)
    assert every_row() == before


def test_an_unknown_member_is_refused_in_whatever_case_it_is_written():
    task = a_task(state="FAILED")
    caller = Caller(a_token(task.queue))
    before = every_row()

    for name in ("Safe_To_Retry", "taskTimeoutMs", "availableAt", "payload", "queue"):
        answer = caller.post(f"tasks/{task.id.hex}:retry", {**a_retry(task), name: 1})
        assert answer.refusal == (400, "INVALID_ARGUMENT", name)

    assert every_row() == before


@pytest.mark.parametrize("budget", [10_000, 10_001, MONTH])
def test_a_budget_from_one_attempt_to_thirty_days_is_accepted(budget):
    task = a_task(state="FAILED")

    answer = Caller(a_token(task.queue)).post(
        f"tasks/{task.id.hex}:retry", a_retry(task, task_timeout_ms=budget)
    )

    child = answer.data["task"]
    assert answer.status == 201
    deadline, created = (
        datetime.fromisoformat(child[name]) for name in ("deadline_at", "created_at")
    )
    assert deadline - created == timedelta(milliseconds=budget)


def test_null_moments_are_as_good_as_none():
    task = a_task(state="FAILED")

    answer = Caller(a_token(task.queue)).post(
        f"tasks/{task.id.hex}:retry",
        a_retry(task, available_at=None, start_deadline_at=None),
    )

    child = answer.data["task"]
    assert child["available_at"] == child["created_at"]
    assert "start_deadline_at" not in child


def test_a_moment_within_the_tolerated_second_is_kept_as_written():
    task = a_task(state="FAILED")
    moment = written(clock.now() - timedelta(milliseconds=300))

    answer = Caller(a_token(task.queue)).post(
        f"tasks/{task.id.hex}:retry", a_retry(task, available_at=moment)
    )

    assert answer.status == 201
    assert answer.data["task"]["available_at"] == moment


def test_more_than_a_second_in_the_past_is_not():
    task = a_task(state="FAILED")
    moment = written(clock.now() - timedelta(seconds=1, microseconds=1))

    answer = Caller(a_token(task.queue)).post(
        f"tasks/{task.id.hex}:retry", a_retry(task, available_at=moment)
    )

    assert answer.refusal == (400, "INVALID_ARGUMENT", "available_at")


@pytest.mark.parametrize(
    ("start", "start_by", "field"),
    [
        (None, 30, None),
        (20, 20, None),
        (20, 30, None),
        (20, 19, "start_deadline_at"),
        (None, -1, "start_deadline_at"),
        (None, 61, "start_deadline_at"),
        (61, None, "available_at"),
        (61, 62, "available_at"),
    ],
)
def test_a_start_deadline_lies_between_availability_and_deadline(
    start, start_by, field
):
    task = a_task(state="FAILED")
    moments = {}
    now = clock.now()
    if start is not None:
        moments["available_at"] = written(now + timedelta(seconds=start))
    if start_by is not None:
        moments["start_deadline_at"] = written(now + timedelta(seconds=start_by))
    before = every_row()

    answer = Caller(a_token(task.queue)).post(
        f"tasks/{task.id.hex}:retry", a_retry(task, **moments)
    )

    if field is None:
        assert answer.status == 201, answer.text
        for name, moment in moments.items():
            assert answer.data["task"][name] == moment
    else:
        assert answer.refusal == (400, "INVALID_ARGUMENT", field)
        assert every_row() == before


def test_a_moment_is_answered_in_utc_with_its_microseconds():
    task = a_task(state="FAILED")
    soon = datetime.fromisoformat(moment_in(seconds=20)).astimezone(UTC)
    moment = soon.replace(microsecond=7)

    answer = Caller(a_token(task.queue)).post(
        f"tasks/{task.id.hex}:retry", a_retry(task, available_at=written(moment))
    )

    assert answer.data["task"]["available_at"].endswith(".000007Z")


def test_a_refused_body_leaves_its_key_free():
    task = a_task(state="FAILED")
    caller = Caller(a_token(task.queue))
    path = f"tasks/{task.id.hex}:retry"
    assert caller.post(path, a_retry(task, reason=" "), key="k").status == 400

    answer = caller.post(path, a_retry(task), key="k")

    assert (answer.status, answer.data["deduplicated"]) == (201, False)
