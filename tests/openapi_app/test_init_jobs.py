"""The first jobs and their token."""

import io
import json

import pytest
from django.core.management import CommandError, call_command

from openapi_app.models import Job
from openapi_app.queries import JobFilter, JobRange, is_synced, jobs_within
from orbit.ids import parse_id
from tokens_app.public import authenticate

pytestmark = pytest.mark.django_db


def told(command, **options):
    """The JSON object that a command prints."""
    output = io.StringIO()
    call_command(command, json=True, stdout=output, **options)
    return json.loads(output.getvalue())


def test_the_demo_gets_jobs_and_a_token_that_reaches_them():
    demo = told("init_dev")

    made = told("init_jobs", queue_id=demo["queue_id"])

    assert set(made["jobs"]) == {"ledger-transfer", "daily-summary"}
    caller = authenticate(
        authorization=f"Bearer {made['tokens']['jobs']}",
        audience="OPEN_JOBS",
        address=None,
    )
    assert caller.scopes == {"jobs:read", "jobs:trigger", "executions:read"}
    within = JobRange(
        namespace_id=caller.namespace_id,
        job_ids=caller.job_ids,
        group_names=caller.job_groups,
    )
    found = jobs_within(within, wanted=JobFilter(), after=None, limit=10)
    assert {it.name: it.id for it in found} == {
        name: parse_id(job_id) for name, job_id in made["jobs"].items()
    }
    assert all(it.triggerable for it in found)
    assert {it.name: it.schedule_type for it in found} == {
        "ledger-transfer": "NONE",
        "daily-summary": "CRON",
    }


def test_the_platform_keeps_house_by_jobs_of_its_own():
    told("init_dev")
    told("init_jobs")

    jobs = Job.objects.filter(group__name="platform")

    assert {job.name for job in jobs} == {"housekeeping", "token-notices"}
    assert all(is_synced(job) and job.next_run_at for job in jobs)


def test_begun_again_the_jobs_stay_and_a_new_token_is_made():
    told("init_dev")
    first, second = told("init_jobs"), told("init_jobs")

    assert first["jobs"] == second["jobs"]
    assert first["tokens"] != second["tokens"]
    assert Job.objects.count() == 4


def test_without_a_queue_the_command_says_what_to_run_first():
    with pytest.raises(CommandError, match="init_dev"):
        call_command("init_jobs")
