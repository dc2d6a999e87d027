"""What became of a write: committed, never seen, or different."""

import pytest

from orbit.exact_json import digest
from tasks_app.models import Task
from tests.builders import a_queue, a_task, a_token, every_row
from tests.tasks_app.api.calls import (
    Caller,
    a_retry,
    a_review,
    a_submit,
    written,
)

pytestmark = pytest.mark.django_db

WRITES = {
    "task.review": ("NEEDS_REVIEW", "review", a_review),
    "task.retry": ("FAILED", "retry", a_retry),
    "task.cancel": ("WAITING", "cancel", lambda _task: {"reason": "no longer"}),
}


def asked(caller, operation, target, *, key="k", body=None):
    """The answer to a look-up, which must write nothing."""
    question = {"operation": operation, "target_id": target.id.hex}
    if body is not None:
        question["content_digest"] = digest(written(body))
    before = every_row()
    answer = caller.post("receipts:look-up", question, key=key)
    assert every_row() == before
    return answer


@pytest.mark.parametrize("operation", WRITES)
def test_a_write_is_found_with_its_task_and_audit(operation):
    state, verb, maker = WRITES[operation]
    task = a_task(state=state)
    caller = Caller(a_token(task.queue))
    body = maker(task)
    path = f"tasks/{task.id.hex}:{verb}"

    assert asked(caller, operation, task, body=body).data["verdict"] == "NEVER_SEEN"
    done = caller.post(path, body, key="k").data
    found = asked(caller, operation, task, body=body).data

    assert found["verdict"] == "COMMITTED"
    assert found["content_compared"] is True
    assert found["task_id"] == done["task"]["id"]
    assert (found["state"], found["revision"]) == (
        done["task"]["state"],
        done["task"]["revision"],
    )
    operations = caller.get(f"tasks/{task.id.hex}/operations").data["items"]
    assert found["audit_id"] in {it["id"] for it in operations}
    assert found["committed_at"]


def test_a_submit_is_found_by_its_queue_from_a_batch_too():
    queue = a_queue()
    caller = Caller(a_token(queue))
    body = a_submit(queue)
    caller.post("tasks:batch", {"tasks": [{**body, "idempotency_key": "k"}]}, key=None)

    found = asked(caller, "task.submit", queue, body=body).data

    assert found["verdict"] == "COMMITTED"
    assert found["task_id"] == Task.objects.get().id.hex


def test_other_content_is_different_and_no_content_is_not_compared():
    task = a_task(state="NEEDS_REVIEW")
    caller = Caller(a_token(task.queue))
    done = caller.post(f"tasks/{task.id.hex}:review", a_review(task), key="k").data

    other = asked(caller, "task.review", task, body=a_review(task, reason="x")).data
    none = asked(caller, "task.review", task).data

    assert other["verdict"] == "DIFFERENT"
    assert other["audit_id"] == done["audit_id"]
    assert (none["verdict"], none["content_compared"]) == ("COMMITTED", False)


def test_another_key_operation_or_task_was_never_seen():
    task, other = a_task(state="NEEDS_REVIEW"), None
    other = a_task(state="NEEDS_REVIEW", queue=task.queue)
    caller = Caller(a_token(task.queue))
    caller.post(f"tasks/{task.id.hex}:review", a_review(task), key="k")

    for answer in (
        asked(caller, "task.review", task, key="other"),
        asked(caller, "task.cancel", task),
        asked(caller, "task.review", other),
    ):
        assert answer.data == {"verdict": "NEVER_SEEN", "content_compared": False}


def test_a_refused_write_was_never_seen():
    task = a_task(state="NEEDS_REVIEW")
    caller = Caller(a_token(task.queue))
    body = a_review(task, expected_revision="1")
    assert caller.post(f"tasks/{task.id.hex}:review", body, key="k").status == 409

    assert asked(caller, "task.review", task).data["verdict"] == "NEVER_SEEN"


def test_the_keys_of_others_are_not_seen():
    task = a_task(state="NEEDS_REVIEW")
    Caller(a_token(task.queue)).post(
        f"tasks/{task.id.hex}:review", a_review(task), key="k"
    )

    found = asked(Caller(a_token(task.queue)), "task.review", task).data

    assert found["verdict"] == "NEVER_SEEN"


def test_the_key_has_to_be_there_and_in_form():
    task = a_task()
    caller = Caller(a_token(task.queue))

    for key in (None, "a b"):
        answer = asked(caller, "task.review", task, key=key)
        assert answer.refusal == (400, "INVALID_ARGUMENT", "Idempotency-Key")


@pytest.mark.parametrize("operation", ["task.submit", "task.review"])
def test_what_is_out_of_reach_is_not_there(operation):
    mine, foreign = a_queue(), a_queue()
    target = foreign if operation == "task.submit" else a_task(queue=foreign)

    assert asked(Caller(a_token(mine)), operation, target).status == 404
