"""The probe: a look whether an effect happened, which settles nothing."""

import json
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import connection, connections

from orbit.errors import Refusal
from orbit.outbox.models import ResultEvent
from tasks_app.actions.reap_leases import reap_leases
from tasks_app.actions.start_probe import start_probe
from tasks_app.domain.errors import QueueFull, StateConflict
from tasks_app.models import Contradiction, Evidence, OperationAudit, Task
from tasks_app.queries.dossier import dossier_of
from tasks_app.queries.probes import probes_of
from tests.builders import (
    OPERATOR,
    a_lease,
    a_queue,
    a_task,
    again,
    an_identity,
    cancelled,
    claimed,
    every_row,
    lose,
    pass_time,
    reach_of,
    reported,
    retried,
    reviewed,
    room_of,
    row_of,
)

pytestmark = pytest.mark.django_db

EXACT = '{"sequence":9007199254740993,"amount":1.10,"big":1E400}'


def an_uncertain(**changes):
    return a_task(state="NEEDS_REVIEW", **changes)


def probed(task, *, identity=None):
    """What an operator gets for starting a probe."""
    return start_probe(
        task_id=task.id,
        identity=identity or an_identity(),
        actor=OPERATOR,
        reach=reach_of(task.queue),
    )


def finding_of(task, *, result):
    """The evidence after a worker reported this of its probe."""
    probe = probed(task).task
    [lease] = claimed(task.queue, task_id=probe.id)
    reported(lease, "succeed", result=result)
    return json.loads(Evidence.objects.get(task_id=task.id).content)


def test_a_probe_is_an_ordinary_task_with_the_exact_payload():
    task = an_uncertain(payload=EXACT)
    room = room_of(task.queue_id)

    answered = probed(task)

    probe = Task.objects.get(id=answered.task.id)
    assert (probe.handler, probe.state) == (f"{task.handler}.probe", "WAITING")
    assert (probe.owner_kind, probe.owner_id) == ("PROBE", task.id)
    assert f'"payload":{EXACT}' in probe.payload
    assert json.loads(probe.payload)["task_id"] == task.id.hex
    assert room_of(task.queue_id) == room - 1
    audit = OperationAudit.objects.get(id=answered.audit_id)
    assert (audit.task_id, audit.action) == (task.id, "task.probe")
    assert json.loads(audit.after)["probe_task_id"] == probe.id.hex


@pytest.mark.parametrize(
    ("effect", "proposed"),
    [("APPLIED", "SUCCEEDED"), ("NOT_APPLIED", "FAILED"), ("UNKNOWN", None)],
)
def test_what_a_probe_finds_is_evidence_and_settles_nothing(effect, proposed):
    task = an_uncertain()
    before = dossier_of(reach_of(task.queue), task.id).grounds.digest
    result = json.dumps(
        {"effect": effect, "evidence_ref": "ledger:7", "details": {"lines": 2}}
    )

    found = finding_of(task, result=result)

    assert (found["effect"], found["proposed_outcome"]) == (effect, proposed)
    assert found["evidence_ref"] == "ledger:7"
    assert found["details"] == {"lines": 2}
    now = Task.objects.get(id=task.id)
    assert (now.state, now.revision) == ("NEEDS_REVIEW", task.revision)
    assert dossier_of(reach_of(task.queue), task.id).grounds.digest != before
    assert Evidence.objects.get(task_id=task.id).kind == "probe"


@pytest.mark.parametrize(
    "result",
    ["{}", "7", '{"effect":"MAYBE"}', '{"effect":"APPLIED","outcome":"SUCCEEDED"}'],
)
def test_a_finding_in_no_known_form_is_kept_as_unknown(result):
    found = finding_of(an_uncertain(), result=result)

    assert (found["effect"], found["proposed_outcome"]) == ("UNKNOWN", None)
    assert found["fault"]
    assert found["details"] == json.loads(result)


def test_a_probe_that_fails_leaves_no_evidence_and_is_shown():
    task = an_uncertain()
    probe = probed(task).task
    [lease] = claimed(task.queue, task_id=probe.id)
    reported(lease, "fail")

    assert not Evidence.objects.filter(task_id=task.id).exists()
    [glance] = probes_of(task.id, limit=10)
    assert (glance.id, glance.state, glance.error_code) == (
        probe.id,
        "FAILED",
        "BROKEN",
    )


def test_one_probe_at_a_time_and_another_after_it():
    task = an_uncertain()
    first = probed(task).task
    with pytest.raises(StateConflict) as refused:
        probed(task)
    assert refused.value.details["reason"] == "PROBE_RUNNING"
    assert first.id.hex in refused.value.message

    cancelled(first.id)

    assert probed(task).task.id != first.id
    assert len(probes_of(task.id, limit=10)) == 2


def test_a_probe_of_which_nobody_knows_is_settled_before_the_next():
    task = an_uncertain()
    first = probed(task).task
    reported(again(first.id), "unknown")

    with pytest.raises(StateConflict, match="awaits a review itself") as refused:
        probed(task)
    assert refused.value.details["reason"] == "PROBE_RUNNING"
    assert first.id.hex in refused.value.message

    reviewed(Task.objects.get(id=first.id))
    assert probed(task).task.id != first.id


def test_a_probe_whose_worker_falls_silent_is_run_again():
    task = an_uncertain()
    probe = probed(task).task
    lose(again(probe.id))
    reap_leases(limit=10)
    assert probes_of(task.id, limit=10)[0].state == "WAITING"
    pass_time(probe.id, by=timedelta(seconds=30))

    reported(again(probe.id), "succeed", result='{"effect":"NOT_APPLIED"}')

    [found] = Evidence.objects.filter(task_id=task.id)
    assert json.loads(found.content)["effect"] == "NOT_APPLIED"
    assert Task.objects.get(id=task.id).revision == task.revision


def test_a_late_report_of_the_task_and_its_probe_are_kept_side_by_side():
    lease = a_lease()
    lose(lease)
    reap_leases(limit=10)
    task = Task.objects.get(id=lease.task.id)
    probe = probed(task).task
    reported(lease, "succeed", result='{"paid":true}')
    reported(again(probe.id), "succeed", result='{"effect":"NOT_APPLIED"}')

    kinds = Evidence.objects.filter(task_id=task.id).order_by("received_at")
    assert [it.kind for it in kinds] == ["succeed", "probe"]
    now = Task.objects.get(id=task.id)
    assert (now.state, now.revision) == ("NEEDS_REVIEW", task.revision)


def test_a_late_finding_of_a_probe_is_evidence_of_the_probe_alone():
    task = an_uncertain()
    probe = probed(task).task
    first = again(probe.id)
    lose(first)
    reap_leases(limit=10)

    reported(first, "succeed", result='{"effect":"APPLIED"}')

    assert not Evidence.objects.filter(task_id=task.id).exists()
    assert Evidence.objects.filter(task_id=probe.id).exists()


@pytest.mark.parametrize(
    "state", ["WAITING", "RUNNING", "SUCCEEDED", "FAILED", "CANCELLED"]
)
def test_only_what_awaits_a_review_is_probed(state):
    task = a_task(state=state)
    before = every_row()
    with pytest.raises(StateConflict) as refused:
        probed(task)
    assert refused.value.details["reason"] == "STATE"
    assert every_row() == before


def test_the_same_key_gets_the_same_probe():
    task, identity = an_uncertain(), an_identity()
    first = probed(task, identity=identity)
    second = probed(task, identity=identity)
    assert (second.task.id, second.audit_id) == (first.task.id, first.audit_id)
    assert (first.deduplicated, second.deduplicated) == (False, True)


def test_a_full_queue_refuses_a_probe():
    queue = a_queue(max_outstanding=1)
    task = an_uncertain(queue=queue)
    with pytest.raises(QueueFull):
        probed(task)


@pytest.mark.parametrize(
    ("outcome", "effect", "opened"),
    [
        ("FAILED", "APPLIED", [("OUTCOME", "FAILED", "SUCCEEDED")]),
        ("SUCCEEDED", "NOT_APPLIED", [("OUTCOME", "SUCCEEDED", "FAILED")]),
        ("FAILED", "NOT_APPLIED", []),
        ("SUCCEEDED", "APPLIED", []),
        ("FAILED", "UNKNOWN", []),
    ],
)
def test_a_review_waits_for_no_probe_and_may_be_contradicted_by_it(
    outcome, effect, opened
):
    task = an_uncertain()
    probe = probed(task).task
    review = reviewed(task, outcome=outcome)
    before = row_of(task.id)

    reported(again(probe.id), "succeed", result=f'{{"effect":"{effect}"}}')

    assert row_of(task.id) == before
    [evidence] = Evidence.objects.filter(task_id=task.id, kind="probe")
    found = Contradiction.objects.filter(task_id=task.id)
    assert [(it.kind, it.declared, it.claimed) for it in found] == opened
    told = ResultEvent.objects.filter(task_id=task.id, kind="task.contradicted")
    assert told.count() == len(opened)
    for contradiction in found:
        assert contradiction.evidence_id == evidence.id
        assert contradiction.audit_id == review.audit_id


def test_a_probe_is_neither_retried_nor_probed():
    task = an_uncertain()
    probe = probed(task).task
    reported(again(probe.id), "unknown")
    closed = Task.objects.get(id=probe.id)
    with pytest.raises(StateConflict) as refused:
        probed(closed)
    assert refused.value.details["reason"] == "OWNER"
    reviewed(closed)
    with pytest.raises(StateConflict) as refused:
        retried(Task.objects.get(id=probe.id))
    assert "another probe" in refused.value.message


def test_what_people_declare_of_a_probe_is_no_finding():
    task = an_uncertain()
    probe = probed(task).task
    reported(again(probe.id), "unknown")
    reviewed(Task.objects.get(id=probe.id), outcome="SUCCEEDED")
    assert not Evidence.objects.filter(task_id=task.id).exists()


@pytest.mark.django_db(transaction=True)
def test_many_who_start_a_probe_at_once_start_one():
    task = an_uncertain()

    def start(_number):
        try:
            return probed(task)
        except Refusal as refusal:
            return refusal.details["reason"]
        finally:
            connections["default"].close()

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(start, range(24)))

    assert answers.count("PROBE_RUNNING") == 23
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM tasks_task WHERE owner_kind = 'PROBE'")
        assert cursor.fetchone() == (1,)


@pytest.mark.django_db(transaction=True)
def test_a_review_and_a_finding_at_once_never_miss_each_other():
    for _ in range(10):
        task = an_uncertain()
        lease = again(probed(task).task.id)
        digest = dossier_of(reach_of(task.queue), task.id).grounds.digest

        def find(lease=lease):
            return reported(lease, "succeed", result='{"effect":"APPLIED"}')

        def decide(task=task, digest=digest):
            try:
                return reviewed(task, expected_dossier_digest=digest)
            except Refusal as refusal:
                return refusal

        def alone(act):
            try:
                return act()
            finally:
                connections["default"].close()

        with ThreadPoolExecutor(2) as pool:
            _, decided = pool.map(alone, [find, decide])

        is_contradicted = Contradiction.objects.filter(task_id=task.id).exists()
        is_refused = isinstance(decided, Refusal)
        assert is_refused != is_contradicted
