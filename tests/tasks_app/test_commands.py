"""The commands: a beginning on an empty database, and one pass of maintenance."""

import io
import json
from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command

from tasks_app.actions.create_namespace import create_namespace
from tasks_app.models import Application, Namespace, Queue, Task
from tests.builders import a_lease, a_task, lose, moment_in, pass_time
from tests.tasks_app.api.calls import Caller, a_submit
from tokens_app.models import ServiceAccountToken

pytestmark = pytest.mark.django_db

RECOVERY = {"tasks:review", "tasks:retry", "tasks:audit:read"}


def ran(*arguments):
    output = io.StringIO()
    call_command(*arguments, stdout=output)
    return output.getvalue()


def scopes():
    rows = ServiceAccountToken.objects.values_list("scopes", flat=True)
    return {scope for row in rows for scope in row.split()}


def test_without_the_flag_nobody_may_recover_anything():
    ran("init_dev")

    assert scopes() == {
        *("tasks:submit", "tasks:read", "tasks:cancel", "tasks:work", "events:read")
    }


def test_with_the_flag_people_may_and_workers_may_not():
    demo = json.loads(ran("init_dev", "--recovery-access", "--json"))

    assert scopes() >= RECOVERY
    assert set(demo["tokens"]) == {"submitter", "worker", "operator", "auditor"}
    by_name = dict(ServiceAccountToken.objects.values_list("name", "scopes"))
    assert not RECOVERY & set(by_name["demo worker"].split())
    assert not RECOVERY & set(by_name["demo submitter"].split())
    assert set(by_name["demo auditor"].split()) == {"tasks:read", "tasks:audit:read"}


def test_the_tokens_work_at_once():
    demo = json.loads(ran("init_dev", "--json"))
    queue = Queue.objects.get()
    caller = Caller(authorization=f"Bearer {demo['tokens']['submitter']}")

    assert set(demo) == {"namespace_id", "application_id", "queue_id", "tokens"}
    assert demo["queue_id"] == queue.id.hex
    assert caller.post("tasks", a_submit(queue)).status == 201
    assert Namespace.objects.get().number == 1


def test_twice_is_one_place_with_new_tokens():
    first, second = (json.loads(ran("init_dev", "--json")) for _ in "ab")

    for name in ("namespace_id", "application_id", "queue_id"):
        assert first[name] == second[name]
    assert first["tokens"]["worker"] != second["tokens"]["worker"]
    assert (Application.objects.count(), Queue.objects.count()) == (1, 1)


def test_for_people_the_tokens_are_shown_with_a_warning():
    shown = ran("init_dev")

    assert shown.count("fta_") == 2
    assert "only now" in shown


def test_a_tenant_of_another_name_is_not_taken_over():
    create_namespace(name="acme", number=1)

    with pytest.raises(CommandError, match="Tenant 1"):
        ran("init_dev")
    assert Application.objects.count() == 0


def test_one_pass_reaps_expires_and_promotes():
    lost, safe = a_lease(), a_lease(recovery_safety="REPLAY_SAFE", max_attempts=2)
    for lease in (lost, safe):
        lose(lease)
    overdue, late = a_task(), a_task(start_deadline_at=moment_in(seconds=5))
    pass_time(overdue.id, by=timedelta(minutes=2))
    pass_time(late.id, by=timedelta(seconds=6))
    waiting = a_task(available_at=moment_in(seconds=5))
    pass_time(waiting.id, by=timedelta(seconds=6))
    early = a_task(available_at=moment_in(seconds=30))

    ran("maintain", "--once")

    def state(task_id):
        return Task.objects.get(id=task_id).state

    assert state(lost.task.id) == "NEEDS_REVIEW"
    assert state(safe.task.id) == "WAITING"
    assert state(overdue.id) == state(late.id) == "FAILED"
    assert Task.objects.get(id=waiting.id).is_due
    assert not Task.objects.get(id=early.id).is_due
