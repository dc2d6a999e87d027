"""The dossier: all that is known, by a digest that only knowledge changes."""

import json
from datetime import timedelta

import pytest

from tasks_app.actions.reap_leases import reap_leases
from tasks_app.models import Evidence, OperationAudit, Task
from tasks_app.queries.dossier import MAX_SHOWN
from tests.builders import (
    BROKEN,
    a_lease,
    a_queue,
    a_task,
    a_token,
    again,
    every_row,
    lose,
    pass_time,
    reported,
)
from tests.tasks_app.actions.test_review_task import Jobs, owned_by
from tests.tasks_app.api.calls import Caller, a_retry, a_review

pytestmark = pytest.mark.django_db


def uncertain(**changes):
    """A lease whose outcome nobody knows, its task, and somebody who may do all."""
    lease = a_lease(**changes)
    reported(lease, "unknown")
    task = Task.objects.get(id=lease.task.id)
    return lease, task, Caller(a_token(task.queue))


def dossier(caller, task):
    """The dossier that the caller gets."""
    return caller.get(f"tasks/{task.id.hex}/dossier").data


def test_it_tells_the_whole_story():
    queue = a_queue(max_concurrency=5)
    first = a_lease(
        queue=queue,
        recovery_safety="REPLAY_SAFE",
        max_attempts=2,
        payload='{"a": 1.10}',
    )
    lose(first)
    reap_leases(limit=1)
    second = again(first.task.id)
    reported(second, "unknown")
    reported(first, "fail")
    task = Task.objects.get(id=first.task.id)

    found = dossier(Caller(a_token(queue)), task)

    assert found["task"]["state"] == "NEEDS_REVIEW"
    assert found["task"]["payload"]["excerpt"] == '{"a": 1.10}'
    assert found["task"]["payload"]["bytes"] == 11
    assert [it["outcome"] for it in found["attempts"]] == ["UNKNOWN", "UNKNOWN"]
    assert [it["lease"]["fence"] for it in found["attempts"]] == ["1", "2"]
    assert all(it["lease"]["ended_at"] for it in found["attempts"])
    assert found["attempts"][0]["worker"]["name"] == "worker-1"
    assert found["permits"] == []
    [evidence] = found["evidence"]["items"]
    assert evidence["attempt_id"] == first.attempt_id.hex
    assert json.loads(evidence["content"]["excerpt"])["kind"] == "fail"
    actions = [it["action"] for it in found["operations"]["items"]]
    assert actions[0] == "task.accept"
    assert actions[-1] == "task.unknown"
    kinds = [it["body"]["kind"] for it in found["events"]["items"]]
    assert kinds == ["task.accepted", "task.needs_review"]
    assert [it["id"] for it in found["lineage"]["items"]] == [task.id.hex]
    assert found["owner"] == {"agrees": True, "waiting": []}


def test_a_running_task_shows_its_permits_and_heartbeats():
    queue = a_queue(max_concurrency=5)
    lease = a_lease(queue=queue)
    caller = Caller(a_token(queue))
    caller.post(
        f"attempts/{lease.attempt_id.hex}:heartbeat", {"lease_token": lease.lease_token}
    )

    found = dossier(caller, lease.task)

    assert [it["kind"] for it in found["permits"]] == ["QUEUE"]
    assert found["attempts"][0]["lease"]["last_heartbeat_at"]
    assert lease.lease_token not in json.dumps(found)


def test_what_it_says_of_contents_depends_on_the_permission_to_read_tasks():
    lease, task, _ = uncertain(payload='{"secret":1}')
    reported(lease, "succeed", result='"hidden"')
    auditor = Caller(a_token(task.queue, scopes=("tasks:audit:read",)))

    found = dossier(auditor, task)

    assert set(found["task"]["payload"]) == {"digest", "bytes"}
    assert set(found["evidence"]["items"][0]["content"]) == {"digest", "bytes"}
    assert "hidden" not in json.dumps(found)
    assert "secret" not in json.dumps(found)


def test_a_large_payload_is_an_excerpt():
    task = a_task(payload='"' + "é" * 5_000 + '"')

    payload = dossier(Caller(a_token(task.queue)), task)["task"]["payload"]

    assert payload["bytes"] == 10_002
    assert len(payload["excerpt"]) == 1_000
    assert payload["is_whole"] is False


def test_each_list_has_its_newest_and_says_that_there_are_more():
    lease, task, caller = uncertain()
    for number in range(MAX_SHOWN + 3):
        reported(lease, "succeed", result=str(number))

    shown = dossier(caller, task)["evidence"]

    assert shown["has_more"] is True
    results = [json.loads(it["content"]["excerpt"])["result"] for it in shown["items"]]
    assert results == list(range(3, MAX_SHOWN + 3))


def test_neither_reading_nor_time_changes_the_digest():
    _, task, caller = uncertain()
    digest = dossier(caller, task)["dossier_digest"]
    before = every_row()

    assert dossier(caller, task)["dossier_digest"] == digest
    assert every_row() == before
    pass_time(task.id, by=timedelta(hours=3))
    reap_leases(limit=10)

    assert dossier(caller, task)["dossier_digest"] == digest


def test_a_heartbeat_does_not_change_the_digest():
    lease = a_lease()
    caller = Caller(a_token(Task.objects.get(id=lease.task.id).queue))
    digest = dossier(caller, lease.task)["dossier_digest"]

    caller.post(
        f"attempts/{lease.attempt_id.hex}:heartbeat", {"lease_token": lease.lease_token}
    )

    assert dossier(caller, lease.task)["dossier_digest"] == digest


def test_evidence_outcome_and_contradiction_each_change_the_digest():
    lease, task, caller = uncertain()
    digests = [dossier(caller, task)["dossier_digest"]]
    reported(lease, "fail")
    digests.append(dossier(caller, task)["dossier_digest"])
    caller.post(f"tasks/{task.id.hex}:review", a_review(task))
    digests.append(dossier(caller, task)["dossier_digest"])
    reported(lease, "succeed")
    found = dossier(caller, task)
    digests.append(found["dossier_digest"])

    assert len(set(digests)) == 4
    [contradiction] = found["contradictions"]["items"]
    assert contradiction["declared"] == "FAILED"
    kinds = [it["body"]["kind"] for it in found["events"]["items"]]
    assert kinds[-2:] == ["task.failed", "task.contradicted"]


def test_the_owners_word_is_part_of_the_digest():
    task = a_task(state="NEEDS_REVIEW", owner="SCHEDULE")
    caller = Caller(a_token(task.queue))

    with owned_by(Jobs()):
        agreed = dossier(caller, task)
    with owned_by(Jobs(refusal="Not mine.")):
        refused = dossier(caller, task)

    assert agreed["owner"] == {"agrees": True, "waiting": []}
    assert refused["owner"]["refusal"] == "Not mine."
    assert agreed["dossier_digest"] != refused["dossier_digest"]


def test_a_review_of_the_present_dossier_keeps_its_digest_in_the_audit():
    lease, task, caller = uncertain()
    reported(lease, "fail")
    digest = dossier(caller, task)["dossier_digest"]

    answer = caller.post(
        f"tasks/{task.id.hex}:review", a_review(task, expected_dossier_digest=digest)
    )

    audit = OperationAudit.objects.get(id=answer.data["audit_id"])
    assert json.loads(audit.after)["dossier_digest"] == digest


def test_a_review_without_a_digest_keeps_none():
    _, task, caller = uncertain()

    answer = caller.post(f"tasks/{task.id.hex}:review", a_review(task))

    audit = OperationAudit.objects.get(id=answer.data["audit_id"])
    assert "dossier_digest" not in json.loads(audit.after)


@pytest.mark.parametrize("count", [1, 3])
def test_evidence_that_came_since_refuses_the_review_and_is_named(count):
    lease, task, caller = uncertain()
    reported(lease, "fail")
    digest = dossier(caller, task)["dossier_digest"]
    for number in range(count):
        reported(lease, "succeed", result=str(number))
    before = every_row()
    body = a_review(task, expected_dossier_digest=digest)

    answer = caller.post(f"tasks/{task.id.hex}:review", body, key="k")

    assert answer.conflict == (409, "STATE_CONFLICT", "DOSSIER_CHANGED")
    assert answer.error["new_evidence_count"] == count
    new = Evidence.objects.filter(kind="succeed").order_by("received_at", "id")
    assert [it["id"] for it in answer.error["new_evidence"]] == [
        evidence.id.hex for evidence in new
    ]
    assert every_row() == before
    now = dossier(caller, task)["dossier_digest"]
    assert answer.error["dossier_digest"] == now
    body = a_review(task, expected_dossier_digest=now)
    assert caller.post(f"tasks/{task.id.hex}:review", body, key="k").status == 200


def test_a_digest_of_nothing_known_is_refused_with_the_newest_evidence():
    lease, task, caller = uncertain()
    reported(lease, "fail", failure=BROKEN)

    answer = caller.post(
        f"tasks/{task.id.hex}:review", a_review(task, expected_dossier_digest="a" * 64)
    )

    assert answer.conflict == (409, "STATE_CONFLICT", "DOSSIER_CHANGED")
    assert "new_evidence_count" not in answer.error
    assert len(answer.error["new_evidence"]) == 1


@pytest.mark.parametrize("digest", ["", "A" * 64, "0" * 63, None, 1])
def test_a_digest_has_one_form(digest):
    _, task, caller = uncertain()

    answer = caller.post(
        f"tasks/{task.id.hex}:review", a_review(task, expected_dossier_digest=digest)
    )

    assert answer.refusal == (400, "INVALID_ARGUMENT", "expected_dossier_digest")


def test_the_digest_is_part_of_what_a_key_stands_for():
    _, task, caller = uncertain()
    digest = dossier(caller, task)["dossier_digest"]
    path = f"tasks/{task.id.hex}:review"
    body = a_review(task, expected_dossier_digest=digest)
    first = caller.post(path, body, key="k")

    again_ = caller.post(path, body, key="k")
    other = caller.post(path, a_review(task), key="k")

    assert again_.data["audit_id"] == first.data["audit_id"]
    assert again_.data["deduplicated"] is True
    assert (other.status, other.error["code"]) == (409, "IDEMPOTENCY_CONFLICT")


def test_a_changed_revision_is_told_before_a_changed_dossier():
    _, task, caller = uncertain()
    digest = dossier(caller, task)["dossier_digest"]

    answer = caller.post(
        f"tasks/{task.id.hex}:review",
        a_review(task, expected_revision="1", expected_dossier_digest=digest),
    )

    assert answer.conflict == (409, "STATE_CONFLICT", "REVISION")


def test_contradictions_are_listed_newest_first_with_cursor_and_range():
    queue = a_queue()
    leases = []
    for _ in range(3):
        lease, task, caller = uncertain(queue=queue)
        caller.post(f"tasks/{task.id.hex}:review", a_review(task))
        reported(lease, "succeed")
        leases.append(lease)
    foreign, task, owner = uncertain()
    owner.post(f"tasks/{task.id.hex}:review", a_review(task))
    reported(foreign, "succeed")

    caller = Caller(a_token(queue))
    page = caller.get("contradictions", {"limit": 2}).data
    rest = caller.get(
        "contradictions", {"limit": 2, "cursor": page["next_cursor"]}
    ).data

    shown = [it["task_id"] for it in page["items"] + rest["items"]]
    assert shown == [lease.task.id.hex for lease in reversed(leases)]
    assert "next_cursor" not in rest
    one = caller.get("contradictions", {"task_id": leases[0].task.id.hex}).data
    assert [it["task_id"] for it in one["items"]] == [leases[0].task.id.hex]
    assert caller.get("contradictions", {"task_id": task.id.hex}).data == {"items": []}
    crossed = {"task_id": leases[0].task.id.hex, "cursor": page["next_cursor"]}
    assert caller.get("contradictions", crossed).refusal == (
        400,
        "INVALID_ARGUMENT",
        "cursor",
    )
    assert caller.get("contradictions", {"task_id": "x"}).refusal[2] == "task_id"


def test_a_contradiction_reaches_the_subscribers():
    lease, task, caller = uncertain()
    caller.post(f"tasks/{task.id.hex}:review", a_review(task))
    child = caller.post(
        f"tasks/{task.id.hex}:retry", a_retry(Task.objects.get(id=task.id))
    )
    assert child.status == 201

    reported(lease, "succeed")

    found = dossier(caller, task)
    assert found["events"]["items"][-1]["body"]["kind"] == "task.contradicted"
    assert [it["step"] for it in found["lineage"]["items"]] == [0, 1]
