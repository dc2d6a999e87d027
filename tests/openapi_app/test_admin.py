"""The admin of jobs: exact parameters, buttons, drift and executions."""

import json

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission
from django.urls import reverse
from django_celery_beat.models import PeriodicTask

from openapi_app.admin import jobs as admin_of_jobs
from openapi_app.models import Job, JobExecution, JobGroup
from openapi_app.models.beat import row_name
from tasks_app.models import OperationAudit
from tasks_app.public import ReportKind
from tests.openapi_app.builders import (
    HANDLER,
    a_group,
    a_job,
    a_queue,
    again,
    change,
    executions,
    finish,
    run_now,
    task_of,
)

# Without a test's own transaction around them, so that durable ones are real.
pytestmark = pytest.mark.django_db(transaction=True)
BACKEND = "django.contrib.auth.backends.ModelBackend"
EXACT = '{"amount":\n  9007199254740993.10}'


@pytest.fixture
def sent(monkeypatch):
    """The executions that the admin sent to Celery."""
    found: list[object] = []
    monkeypatch.setattr(admin_of_jobs, "send_execution", found.append)
    return found


@pytest.fixture
def ada(client):
    """A browser in which an administrator is signed in."""
    user = get_user_model().objects.create_superuser("ada")
    client.force_login(user, backend=BACKEND)
    return client


def signed_in(client, *permissions):
    """A browser of somebody with these permissions only."""
    user = get_user_model().objects.create_user("bob", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=permissions))
    client.force_login(user, backend=BACKEND)
    return client


def url(name, *args):
    """An address of the admin of jobs."""
    return reverse(f"admin:openapi_app_{name}", args=args)


def entered(*, queue, group, **changes):
    """A filled-in form, valid but for what the test changes."""
    return {
        "group": group.id,
        "name": "nightly",
        "description": "",
        "handler": HANDLER,
        "parameters": "{}",
        "queue_id": queue.id.hex,
        "is_enabled": "on",
        "schedule_type": "NONE",
        "cron": "",
        "interval_seconds": "",
        "once_at_0": "",
        "once_at_1": "",
        "timezone": "UTC",
        "misfire_policy": "FIRE_ONCE",
        "concurrency_policy": "PARALLEL",
        "recovery_safety": "RECONCILE_ONLY",
        "max_attempts": "1",
        "initial_delay_ms": "0",
        "max_delay_ms": "0",
        "attempt_timeout_ms": "60000",
        "task_timeout_ms": "3600000",
        **changes,
    }


def a_place():
    """A queue and a group of its namespace."""
    queue = a_queue()
    return {"queue": queue, "group": a_group(namespace_id=queue.namespace_id)}


def test_a_group_is_created_and_its_name_is_kept(ada):
    queue = a_queue()

    answer = ada.post(
        url("jobgroup_add"), {"namespace_id": queue.namespace_id.hex, "name": "billing"}
    )

    assert answer.status_code == 302
    group = JobGroup.objects.get()
    assert (group.name, group.namespace_id) == ("billing", queue.namespace_id)
    assert ada.post(url("jobgroup_change", group.id), {"name": "x"}).status_code == 403
    assert b"billing" in ada.get(url("jobgroup_changelist")).content


def test_a_job_is_created_with_its_parameters_as_typed(ada):
    typed = entered(
        **a_place(),
        parameters=EXACT.replace("\n", "\r\n"),
        schedule_type="CRON",
        cron="30 2 * * *",
        timezone="America/New_York",
    )

    answer = ada.post(url("job_add"), typed)

    assert answer.status_code == 302, answer.context["adminform"].form.errors
    job = Job.objects.get()
    assert job.parameters == EXACT
    assert (job.created_by, job.sync_status) == ("ada", "SYNCED")
    row = PeriodicTask.objects.get(name=row_name(job.id))
    assert json.loads(row.args) == [job.id.hex]
    page = ada.get(url("job_change", job.id)).content.decode()
    assert EXACT.replace('"', "&quot;") in page


def test_a_job_is_changed_and_saved_unchanged_without_moving_its_times(ada):
    place = a_place()
    timing = {"schedule_type": "INTERVAL", "interval_seconds": 3600}
    job = a_job(**place, **timing)

    for description in ("new", "newer"):
        typed = entered(**place, name=job.name, description=description, **timing)
        answer = ada.post(url("job_change", job.id), typed)
        assert answer.status_code == 302, answer.context["adminform"].form.errors

    row = again(job)
    assert (row.description, row.updated_by) == ("newer", "ada")
    assert row.next_run_at == job.next_run_at
    assert row.schedule_set_at == job.schedule_set_at


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"schedule_type": "CRON", "cron": "99 * * * *"}, "cron"),
        ({"schedule_type": "CRON", "cron": ""}, "cron"),
        ({"schedule_type": "INTERVAL"}, "interval_seconds"),
        ({"timezone": "Mars/Olympus"}, "timezone"),
        ({"parameters": '{"amount": 1, "amount": 1}'}, "parameters"),
        ({"parameters": '{"other": 1}'}, "parameters"),
        ({"parameters": "nonsense"}, "parameters"),
        ({"handler": "nobody"}, "handler"),
        ({"recovery_safety": "REPLAY_SAFE"}, "recovery_safety"),
        ({"task_timeout_ms": "1"}, "task_timeout_ms"),
        ({"name": " "}, "name"),
    ],
)
def test_what_is_wrong_is_told_at_its_field_and_nothing_is_written(ada, changes, field):
    answer = ada.post(url("job_add"), entered(**a_place(), **changes))

    assert answer.status_code == 200
    assert field in answer.context["adminform"].form.errors
    assert Job.objects.count() == 0


def test_a_queue_of_another_namespace_and_a_taken_name_are_told_at_their_fields(ada):
    place = a_place()
    foreign = {**place, "queue": a_queue()}
    answer = ada.post(url("job_add"), entered(**foreign))
    assert "queue_id" in answer.context["adminform"].form.errors

    a_job(**place, name="nightly")
    answer = ada.post(url("job_add"), entered(**place))
    assert "name" in answer.context["adminform"].form.errors
    assert Job.objects.count() == 1


def test_a_name_that_is_taken_meanwhile_is_told_and_nothing_breaks(ada, monkeypatch):
    place = a_place()
    a_job(**place, name="nightly")
    monkeypatch.setattr(
        "openapi_app.admin.job_form.JobForm._check_place", lambda *_: None
    )

    answer = ada.post(url("job_add"), entered(**place), follow=True)

    assert b"choose another" in answer.content
    assert Job.objects.count() == 1


def test_run_now_starts_an_execution_in_the_name_of_the_person(ada, sent):
    job = a_job()

    answer = ada.post(url("job_run", job.id), follow=True)

    execution = JobExecution.objects.get()
    assert (execution.source, execution.started_by) == ("ADMIN", "ada")
    assert execution.request_id is not None
    assert sent == [execution.id]
    assert execution.id.hex in answer.content.decode()
    user = get_user_model().objects.get()
    audit = OperationAudit.objects.get(task_id=task_of(execution).id)
    assert (audit.actor_kind, audit.actor_id.int) == ("USER", user.pk)


def test_what_waits_its_turn_is_not_sent(ada, sent):
    job = a_job(concurrency_policy="SERIAL")

    ada.post(url("job_run", job.id))
    ada.post(url("job_run", job.id))

    assert sent == [executions(job)[0].id]


def test_a_disabled_job_is_not_run_and_the_page_says_why(ada, sent):
    job = a_job(is_enabled=False)

    answer = ada.post(url("job_run", job.id), follow=True)

    assert b"The job is disabled" in answer.content
    assert sent == []
    assert b"Run now</button>" not in answer.content


def test_buttons_enable_disable_and_synchronise(ada):
    job = a_job(schedule_type="INTERVAL", interval_seconds=60)

    ada.post(url("job_disable", job.id))
    assert not again(job).is_enabled
    ada.post(url("job_enable", job.id))
    assert again(job).is_enabled

    PeriodicTask.objects.all().update(task="other")
    shown = ada.get(url("job_change", job.id)).content
    assert b"row differs: task" in shown
    assert b"row differs: task" in ada.get(url("job_changelist")).content
    ada.post(url("job_synchronise", job.id))
    assert b"row differs" not in ada.get(url("job_changelist")).content


def test_actions_on_the_list_do_what_the_buttons_do(ada, sent):
    jobs = [a_job(), a_job()]
    chosen = {"_selected_action": [job.id for job in jobs]}

    ada.post(url("job_changelist"), {"action": "run_now", **chosen})
    assert len(sent) == 2
    ada.post(url("job_changelist"), {"action": "disable", **chosen})
    assert not Job.objects.filter(is_enabled=True).exists()
    ada.post(url("job_changelist"), {"action": "enable", **chosen})
    assert not Job.objects.filter(is_enabled=False).exists()
    ada.post(url("job_changelist"), {"action": "delete_selected", **chosen})
    assert Job.objects.live().count() == 2


def test_a_button_is_pressed_not_visited(ada, sent):
    job = a_job()

    for name in ("run", "enable", "disable", "synchronise"):
        assert ada.get(url(f"job_{name}", job.id)).status_code == 404
    assert sent == []


@pytest.mark.parametrize("name", ["run", "enable", "disable", "synchronise"])
def test_each_button_takes_its_permission(client, name, sent):
    job = a_job()
    bob = signed_in(client, "view_job")

    assert bob.post(url(f"job_{name}", job.id)).status_code == 403
    assert bob.get(url("job_change", job.id)).status_code == 200
    assert sent == []
    assert again(job).is_enabled


def test_the_right_to_run_is_not_the_right_to_change(client, sent):
    job = a_job()
    bob = signed_in(client, "view_job", "run_job")

    assert bob.post(url("job_run", job.id)).status_code == 302
    assert len(sent) == 1
    assert bob.post(url("job_disable", job.id)).status_code == 403


def test_a_deleted_job_is_gone_and_its_executions_are_shown(ada):
    job = a_job()
    execution = run_now(job)

    answer = ada.post(url("job_delete", job.id), {"post": "yes"})

    assert answer.status_code == 302
    assert again(job).deleted_at is not None
    assert job.id.hex not in ada.get(url("job_changelist")).content.decode()
    assert ada.get(url("jobexecution_change", execution.id)).status_code == 200


def test_a_job_of_a_handler_that_is_gone_can_be_looked_at(ada):
    job = a_job()
    change(Job, job.id, handler="gone.away")

    page = ada.get(url("job_change", job.id)).content

    assert b"gone.away (not registered)" in page
    assert b"No handler" in page


def test_executions_are_shown_with_their_state_and_nothing_inside(ada):
    job = a_job(parameters='{"amount": 4242424242}')
    first = run_now(job)
    finish(first, ReportKind.FAIL)
    second = run_now(job)

    listed = ada.get(url("jobexecution_changelist")).content.decode()
    shown = ada.get(url("jobexecution_change", first.id)).content.decode()

    assert "FAILED" in listed
    assert "ACCEPTED" in listed
    assert "FAILED" in shown
    assert task_of(first).error_message
    for page in (listed, shown):
        assert "4242424242" not in page
        assert "ledger said no" not in page
    assert "ACCEPTED" in ada.get(url("job_changelist")).content.decode()
    assert str(second.id) in listed


def test_executions_are_only_looked_at(ada):
    execution = run_now(a_job())

    assert ada.get(url("jobexecution_add")).status_code == 403
    assert ada.post(url("jobexecution_change", execution.id), {}).status_code == 403
    assert ada.post(url("jobexecution_delete", execution.id), {}).status_code == 403


def test_longer_lists_take_no_more_statements(ada, django_assert_max_num_queries):
    place = a_place()
    for _ in range(3):
        run_now(a_job(**place))

    for page in ("job_changelist", "jobexecution_changelist"):
        with django_assert_max_num_queries(16):
            ada.get(url(page))
        for _ in range(5):
            run_now(a_job(**place))
        with django_assert_max_num_queries(16):
            ada.get(url(page))
