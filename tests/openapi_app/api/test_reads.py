"""The reads of the open job API: jobs, executions, the token; paging and waiting."""

import threading
import time

import pytest
from django.db import connection

from openapi_app.models import Job, JobExecution
from tasks_app.actions.cancel_task import cancel_task
from tasks_app.domain.commands import CancelTask
from tasks_app.models import Task
from tasks_app.public import ENGINE, Reach, identify
from tests.live import eventually
from tests.openapi_app.api.builders import at_once


def pages(caller, path, *, size, between=lambda: None):
    """All items of a list, page by page."""
    items, cursor = [], ""
    while True:
        answer = caller.get(f"{path}?page_size={size}{cursor}")
        assert answer.status == 200, answer.body
        assert len(answer.data["items"]) <= size
        items += answer.data["items"]
        if "next_cursor" not in answer.data:
            return items
        cursor = f"&cursor={answer.data['next_cursor']}"
        between()


def test_a_job_is_shown_in_summary(place):
    job = place.job(description="Closes the day.", timezone="Europe/Berlin")
    caller = place.caller(job)
    execution = caller.trigger(job)

    answer = caller.get(f"/jobs/{job.id.hex}")

    assert answer.data == {
        "id": job.id.hex,
        "name": job.name,
        "group": "billing",
        "description": "Closes the day.",
        "schedule_type": "NONE",
        "timezone": "Europe/Berlin",
        "enabled": True,
        "triggerable": True,
        "not_triggerable_reason": None,
        "next_run_at": None,
        "last_execution": {
            "id": execution.id,
            "state": "ACCEPTED",
            "started_at": None,
            "finished_at": None,
        },
    }
    assert answer.headers["Cache-Control"] == "no-store"
    assert caller.get("/jobs").data == {"items": [answer.data]}


@pytest.mark.parametrize(
    ("changes", "reason"),
    [({"is_enabled": False}, "disabled"), ({"sync_status": "FAILED"}, "not_synced")],
)
def test_a_job_says_why_it_cannot_be_triggered(place, changes, reason):
    job = place.job(**changes)

    shown = place.caller(job).get(f"/jobs/{job.id.hex}").data

    assert (shown["triggerable"], shown["not_triggerable_reason"]) == (False, reason)


def test_jobs_are_filtered(place):
    one, two = place.job(name="one"), place.job(name="two", is_enabled=False)
    caller = place.caller(one, job_groups=("billing",))

    def names(query):
        return [job["name"] for job in caller.get(f"/jobs?{query}").data["items"]]

    assert names("group=billing") == ["one", "two"]
    assert names("group=elsewhere") == []
    assert names("name=two") == ["two"]
    assert names("triggerable=true") == ["one"]
    assert names("triggerable=false") == ["two"]
    assert two.id


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("page_size=0", "page_size"),
        ("page_size=101", "page_size"),
        ("page_size=x", "page_size"),
        ("page_size=1&page_size=1", "page_size"),
        ("limit=1", "limit"),
        ("cursor=forged", "cursor"),
        ("triggerable=yes", "triggerable"),
    ],
)
def test_a_query_that_breaks_a_rule_is_refused(place, query, field):
    answer = place.caller().get(f"/jobs?{query}")

    assert (answer.status, answer.message) == (400, "invalid_request")
    assert answer.body["field"] == field


def test_pages_show_every_job_of_the_range_once(place):
    mine = [place.job() for _ in range(7)]
    for _ in range(5):
        place.job()
    caller = place.caller(*mine)

    shown = pages(caller, "/jobs", size=3, between=place.job)

    assert [job["id"] for job in shown] == sorted(job.id.hex for job in mine)


def test_a_cursor_of_one_token_is_nothing_to_another(place):
    jobs = [place.job(), place.job()]
    cursor = place.caller(*jobs).get("/jobs?page_size=1").data["next_cursor"]

    answer = place.caller(*jobs).get(f"/jobs?cursor={cursor}")

    assert (answer.status, answer.body["field"]) == (400, "cursor")


def test_executions_of_one_moment_are_paged_without_loss(place):
    job = place.job()
    caller = place.caller(job)
    ids = {caller.trigger(job, f"key-{number:05}").id for number in range(25)}
    JobExecution.objects.update(accepted_at=JobExecution.objects.first().accepted_at)
    later = iter(range(100))

    shown = pages(
        caller,
        f"/jobs/{job.id.hex}/executions",
        size=10,
        between=lambda: caller.trigger(job, f"later-{next(later):05}"),
    )

    assert len(shown) == 25
    assert {execution["id"] for execution in shown} == ids


def test_a_key_finds_the_execution_that_it_started(place):
    job, other = place.job(), place.job()
    caller = place.caller(job, other)
    caller.trigger(job, "another-key")
    mine = caller.trigger(job, "my-key-1")

    def found(job, key):
        path = f"/jobs/{job.id.hex}/executions"
        return caller.get(path, **{"Idempotency-Key": key})

    assert found(job, "my-key-1").data == {"items": [mine.data]}
    assert found(job, "never-sent").data == {"items": []}
    assert found(other, "my-key-1").data == {"items": []}
    assert found(job, "short").message == "idempotency_key_invalid"
    assert found(job, "").message == "idempotency_key_missing"


def test_a_token_sees_what_it_may_do(place):
    job = place.job()
    caller = place.caller(
        job,
        job_groups=("billing",),
        scopes=("jobs:trigger", "jobs:read"),
        reads_per_minute=None,
        triggers_per_minute=None,
    )
    caller.trigger(job)

    shown = caller.get("/token").data

    assert shown["scopes"] == ["jobs:read", "jobs:trigger"]
    assert shown["range"] == {"job_ids": [job.id.hex], "job_groups": ["billing"]}
    assert shown["expires_at"].endswith("Z")
    quota = shown["quota"]
    assert (quota["reads"]["limit"], quota["reads"]["remaining"]) == (120, 119)
    assert (quota["triggers"]["limit"], quota["triggers"]["remaining"]) == (20, 19)


@pytest.mark.parametrize("written", ["21", "-1", "x", "1.5"])
def test_a_wait_has_its_limits(place, written):
    job = place.job()
    caller = place.caller(job)
    execution = caller.trigger(job).id

    answer = caller.get(f"/executions/{execution}?wait_seconds={written}")

    assert (answer.status, answer.body["field"]) == (400, "wait_seconds")


def cancel(place, execution_id):
    """Let the execution be over."""
    task = Task.objects.get(owner_id=execution_id)
    cancel_task(
        CancelTask(),
        task_id=task.id,
        identity=identify(key="cancel", content=b"{}"),
        actor=ENGINE,
        reach=Reach(namespace_id=place.namespace_id, queue_ids=None),
    )


def test_a_waiting_call_answers_as_soon_as_the_execution_is_over(place):
    job = place.job()
    caller = place.caller(job)
    execution = caller.trigger(job).id

    def wait_or_end(number):
        if number:
            return caller.get(f"/executions/{execution}?wait_seconds=20")
        eventually(watching)
        return cancel(place, execution)

    started = time.monotonic()
    _, *answers = at_once(3, wait_or_end)

    assert time.monotonic() - started < 10
    assert [answer.data["state"] for answer in answers] == ["CANCELLED"] * 2
    # The one that looked for all of them goes home.
    eventually(lambda: not watching())


def test_a_wait_that_is_over_answers_what_is(place):
    job = place.job()
    caller = place.caller(job)
    execution = caller.trigger(job).id

    started = time.monotonic()
    answer = caller.get(f"/executions/{execution}?wait_seconds=1")

    assert 0.9 < time.monotonic() - started < 5
    assert answer.data["state"] == "ACCEPTED"


def test_only_so_many_calls_wait_at_once(place, settings):
    settings.OPEN_JOBS_MAX_WAITING = 0
    job = place.job()
    caller = place.caller(job)
    execution = caller.trigger(job).id

    started = time.monotonic()
    answer = caller.get(f"/executions/{execution}?wait_seconds=20")

    assert time.monotonic() - started < 5
    assert answer.data["state"] == "ACCEPTED"


def watching():
    """The thread that looks for waiting calls."""
    return [it for it in threading.enumerate() if it.name == "open-job-watch"]


def test_a_waiting_call_holds_no_database_connection(place):
    job = place.job()
    caller = place.caller(job)
    execution = caller.trigger(job).id
    connections = []

    def act(number):
        if number:
            return caller.get(f"/executions/{execution}?wait_seconds=20")
        eventually(lambda: len(connections) or sessions() == 2)
        connections.append(sessions())
        return cancel(place, execution)

    at_once(4, act)

    # Three wait: the watch's connection and the one that counts, which is not counted.
    assert connections == [2]


def sessions():
    """Sessions with this database, but for the one that asks."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
            " AND pid <> pg_backend_pid()"
        )
        return cursor.fetchone()[0]


def test_a_list_takes_few_statements(place, django_assert_max_num_queries):
    jobs = [place.job() for _ in range(20)]
    caller = place.caller(*jobs)
    for job in jobs:
        caller.trigger(job)
    caller.get("/token")

    with django_assert_max_num_queries(8):
        assert len(caller.get("/jobs").data["items"]) == 20
    assert Job.objects.count() == 20
