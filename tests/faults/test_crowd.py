"""Fifty callers at once over HTTP (F27)."""

from collections import Counter

from django.db import connection

from tests.faults.calls import a_key
from tests.faults.processes import at_once
from tests.tasks_app.contested.builders import count_of
from tests.tasks_app.contested.invariants import assert_invariants

CROWD = 50


def data_of(responses):
    return [response.json()["data"] for response in responses]


def errors_of(responses):
    return [response.json()["error"] for response in responses]


def test_fifty_retries_and_reviews_have_one_effect_each(desk):
    retries_of_many_keys(desk)
    retries_of_one_key(desk)
    reviews_of_many_keys(desk)
    reviews_of_one_key(desk)
    assert_invariants(connection)


def crowd(act):
    """The responses to the same call, grouped by status."""
    responses = at_once([act] * CROWD)
    by_status = {}
    for response in responses:
        by_status.setdefault(response.status_code, []).append(response)
    return by_status


def counts(by_status):
    return {status: len(responses) for status, responses in by_status.items()}


def retries_of_many_keys(desk):
    task_id, units = desk.failed(), outstanding()
    answered = crowd(lambda: desk.retry(task_id))
    assert counts(answered) == {201: 1, 409: CROWD - 1}
    [won] = data_of(answered[201])
    for error in errors_of(answered[409]):
        assert error["code"] == "STATE_CONFLICT"
        assert error["reason"] == "ALREADY_RETRIED"
        assert error["successor_task_id"] == won["task"]["id"]
        assert error["audit_id"] == won["audit_id"]
    assert outstanding() == units + 1
    assert count_of("tasks_task", "retry_of = %s::uuid", task_id) == 1
    assert audits(task_id, "task.retry") == 1


def retries_of_one_key(desk):
    task_id, key, units = desk.failed(), a_key(), outstanding()
    answered = crowd(lambda: desk.retry(task_id, key=key))
    assert counts(answered) == {201: 1, 200: CROWD - 1}
    [won] = data_of(answered[201])
    for data in data_of(answered[200]):
        assert data == {**won, "deduplicated": True}
    assert outstanding() == units + 1
    assert audits(task_id, "task.retry") == 1


def reviews_of_many_keys(desk):
    task_id, units = desk.in_review(), outstanding()
    answered = crowd(lambda: desk.review(task_id))
    assert counts(answered) == {200: 1, 409: CROWD - 1}
    [won] = data_of(answered[200])
    assert {error["audit_id"] for error in errors_of(answered[409])} == {
        won["audit_id"]
    }
    assert outstanding() == units - 1
    assert audits(task_id, "task.review") == 1


def reviews_of_one_key(desk):
    task_id, key, units = desk.in_review(), a_key(), outstanding()
    answered = crowd(lambda: desk.review(task_id, key=key))
    assert counts(answered) == {200: CROWD}
    found = data_of(answered[200])
    assert Counter(it["deduplicated"] for it in found) == {True: CROWD - 1, False: 1}
    assert len({it["audit_id"] for it in found}) == 1
    assert outstanding() == units - 1
    assert audits(task_id, "task.review") == 1


def outstanding():
    return count_of("tasks_task", "state IN ('WAITING', 'RUNNING', 'NEEDS_REVIEW')")


def audits(task_id, action):
    return count_of(
        "tasks_operation_audit", "task_id = %s::uuid AND action = %s", task_id, action
    )
