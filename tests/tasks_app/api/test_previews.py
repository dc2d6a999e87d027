"""What would happen, foretold exactly as it then happens, and nothing written."""

import json

import pytest

from tasks_app.models import OperationAudit, Task
from tests.builders import (
    a_lease,
    a_queue,
    a_task,
    a_token,
    an_application,
    claimed,
    every_row,
    reported,
    retried,
)
from tests.tasks_app.actions.test_review_task import Jobs, owned_by
from tests.tasks_app.api.calls import Caller, a_retry, a_review, a_submit

pytestmark = pytest.mark.django_db

UNFORESEEABLE = {"id", "created_at", "updated_at", "available_at", "deadline_at"}
VERBS = {"review": a_review, "retry": a_retry}


def foretold(task, verb, body, *, key=None):
    """The answer to a preview, which must write nothing."""
    caller = Caller(a_token(task.queue))
    caller.get("tasks")
    before = every_row()
    answer = caller.post(f"tasks/{task.id.hex}:preview-{verb}", body, key=key)
    assert every_row() == before
    return answer


def done(task, verb, body):
    """The answer to the call itself."""
    return Caller(a_token(task.queue)).post(f"tasks/{task.id.hex}:{verb}", body)


def test_who_submitted_a_task_learns_beforehand_that_another_must_review_it():
    queue = a_queue(reviewer_may_be_submitter=False)
    caller = Caller(a_token(queue))
    task_id = caller.post("tasks", a_submit(queue)).data["task"]["id"]
    [lease] = claimed(queue)
    reported(lease, "unknown")
    task = Task.objects.get(id=task_id)
    body = a_review(task)

    preview = caller.post(f"tasks/{task_id}:preview-review", body, key=None).data

    assert preview["allowed"] is False
    assert preview["refusal"]["status"] == 403
    assert preview["refusal"]["code"] == "REVIEW_NOT_ALLOWED"
    assert preview["refusal"]["reason"] == "SUBMITTER"
    refused = caller.post(f"tasks/{task_id}:review", body).error
    assert {**refused, "status": 403} == preview["refusal"]
    assert (
        Caller(a_token(queue))
        .post(f"tasks/{task_id}:preview-review", body, key=None)
        .data["allowed"]
    )


@pytest.mark.parametrize("outcome", ["SUCCEEDED", "FAILED"])
def test_a_review_brings_about_what_its_preview_said(outcome):
    task = a_task(state="NEEDS_REVIEW", queue=a_queue(max_outstanding=5))
    body = a_review(task, outcome=outcome)

    preview = foretold(task, "review", body).data
    answer = done(task, "review", body).data

    audit = OperationAudit.objects.get(id=answer["audit_id"])
    assert preview["allowed"] is True
    assert preview["task"]["state"] == "NEEDS_REVIEW"
    assert preview["before"] == json.loads(audit.before)
    assert preview["after"] == json.loads(audit.after)
    assert preview["quota"] == {
        "would_fit": True,
        "available": {"queue": 4, "application": 999_999},
    }
    assert preview["moves_on"] == []
    assert "child" not in preview
    kinds = [effect["kind"] for effect in preview["effects"]]
    assert kinds == [
        "TASK_SETTLED",
        "QUOTA_RELEASED",
        "AUDIT_RECORDED",
        "EVENT_PUBLISHED",
    ]


def test_a_retry_brings_about_what_its_preview_said():
    task = a_task(state="FAILED", business_key="order-1", priority=7)
    body = a_retry(task)

    preview = foretold(task, "retry", body).data
    answer = done(task, "retry", body).data

    audit = OperationAudit.objects.get(id=answer["audit_id"])
    child = preview["child"]
    assert preview["before"] == json.loads(audit.before)
    after = json.loads(audit.after)
    assert after.pop("retry_task_id") == answer["task"]["id"]
    assert preview["after"] == after
    for name in child.keys() - UNFORESEEABLE:
        assert child[name] == answer["task"][name], name
    assert {"handler", "business_key", "retry_of", "priority"} <= child.keys()


@pytest.mark.parametrize("full", ["queue", "application"])
def test_a_full_queue_does_not_forbid_but_is_told(full):
    application = an_application(max_outstanding=1 if full == "application" else 9)
    queue = a_queue(application=application, max_outstanding=1)
    task = a_task(state="FAILED", queue=queue)
    a_task(queue=queue)

    preview = foretold(task, "retry", a_retry(task)).data

    assert preview["allowed"] is True
    assert preview["quota"]["would_fit"] is False
    assert preview["quota"]["available"][full] == 0
    assert done(task, "retry", a_retry(task)).status == 429


@pytest.mark.parametrize(
    ("verb", "state", "changes"),
    [
        *(("review", state, {}) for state in ("WAITING", "RUNNING", "FAILED")),
        ("review", "NEEDS_REVIEW", {"expected_revision": "2"}),
        ("review", "NEEDS_REVIEW", {"expected_dossier_digest": "0" * 64}),
        *(("retry", state, {}) for state in ("WAITING", "NEEDS_REVIEW", "SUCCEEDED")),
        ("retry", "FAILED", {"expected_revision": "9"}),
    ],
)
def test_what_would_be_refused_is_refused_with_the_same_words(verb, state, changes):
    task = a_task(state=state)
    body = VERBS[verb](task, **changes)

    preview = foretold(task, verb, body)
    refused = done(task, verb, body)

    assert preview.status == 200
    assert preview.data["allowed"] is False
    refusal = preview.data["refusal"]
    assert refusal.pop("status") == refused.status == 409
    assert refusal == refused.error
    assert set(preview.data) == {"allowed", "task", "refusal"}


def test_a_second_retry_is_foretold_with_the_successor():
    task = a_task(state="FAILED")
    child = retried(task)

    refusal = foretold(task, "retry", a_retry(task)).data["refusal"]

    assert refusal["reason"] == "ALREADY_RETRIED"
    assert refusal["successor_task_id"] == child.task.id.hex


@pytest.mark.parametrize(
    ("verb", "state"), [("review", "NEEDS_REVIEW"), ("retry", "FAILED")]
)
@pytest.mark.parametrize(
    "changes",
    [
        {"reason": " "},
        {"evidence_ref": "a b"},
        {"expected_revision": "0"},
        {"unknown": 1},
    ],
)
def test_wrong_input_stays_an_ordinary_error(verb, state, changes):
    task = a_task(state=state)
    body = VERBS[verb](task, **changes)

    preview = foretold(task, verb, body)
    refused = done(task, verb, body)

    assert preview.refusal == refused.refusal
    assert preview.status == 400


def test_times_of_a_retry_are_checked_as_well():
    task = a_task(state="FAILED")
    body = a_retry(task, task_timeout_ms=1)

    assert foretold(task, "retry", body).refusal == (
        400,
        "INVALID_ARGUMENT",
        "task_timeout_ms",
    )


@pytest.mark.parametrize("member", ["available_at", "start_deadline_at"])
def test_what_is_no_moment_is_wrong_whatever_the_task_is_like(member):
    task = a_task(state="NEEDS_REVIEW")
    body = a_retry(task, **{member: "tomorrow"})

    assert foretold(task, "retry", body).refusal == (400, "INVALID_ARGUMENT", member)
    assert done(task, "retry", body).refusal == (400, "INVALID_ARGUMENT", member)


def test_a_key_that_comes_with_a_preview_is_not_used_up():
    task = a_task(state="NEEDS_REVIEW")

    foretold(task, "review", a_review(task), key="k")
    answer = Caller(a_token(task.queue)).post(
        f"tasks/{task.id.hex}:review", a_review(task, reason="another"), key="k"
    )

    assert answer.data["deduplicated"] is False


def test_the_owner_is_asked_and_not_told():
    task = a_task(state="NEEDS_REVIEW", owner="SCHEDULE")

    with owned_by(Jobs(refusal="The execution is another's.")) as jobs:
        refused = foretold(task, "review", a_review(task)).data["refusal"]
    with owned_by(Jobs()) as agreeing:
        preview = foretold(task, "review", a_review(task)).data

    assert (refused["reason"], refused["message"]) == (
        "OWNER",
        "The execution is another's.",
    )
    assert preview["allowed"] is True
    assert preview["moves_on"] == []
    assert jobs.locked == agreeing.locked == agreeing.settled == []


def test_a_task_that_somebody_holds_can_be_looked_at():
    lease = a_lease()
    reported(lease, "unknown")
    task = Task.objects.get(id=lease.task.id)

    preview = foretold(task, "review", a_review(task)).data

    assert preview["after"]["revision"] == "4"
