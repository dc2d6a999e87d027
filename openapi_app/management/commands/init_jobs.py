"""Makes jobs to begin with, and a token that may see and start those of the demo."""

import json
from argparse import ArgumentParser
from datetime import timedelta
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError

from openapi_app.actions.create_group import create_group
from openapi_app.actions.save_job import save_job
from openapi_app.domain.job_rules import JobDraft
from openapi_app.models import Job, JobGroup
from orbit.ids import parse_id
from tasks_app.public import QueuePlace, queue_places
from tokens_app.public import SCOPES, Actor, Audience, TokenGrant, issue_token

DEMO, PLATFORM = "demo", "platform"
LIFETIME = timedelta(days=90)
BY = "init_jobs"

# By group: what each job is, beside its place.
JOBS: dict[str, dict[str, dict[str, object]]] = {
    DEMO: {
        "ledger-transfer": {
            "description": "Moves 12.50 from alice to bob in the ledger file.",
            "handler": "ledger.transfer",
            "parameters": '{"from": "alice", "to": "bob", "amount": 12.50}',
        },
        "daily-summary": {
            "description": "Counts the executions of the last day.",
            "handler": "orbit.daily_summary",
            "schedule_type": "CRON",
            "cron": "0 6 * * *",
            "recovery_safety": "REPLAY_SAFE",
            "max_attempts": 3,
            "initial_delay_ms": 1_000,
            "max_delay_ms": 60_000,
        },
    },
    PLATFORM: {
        "housekeeping": {
            "description": "Deletes what has expired.",
            "handler": "orbit.housekeeping",
            "schedule_type": "CRON",
            "cron": "17 * * * *",
            "concurrency_policy": "SKIP",
            "recovery_safety": "REPLAY_SAFE",
            "max_attempts": 3,
        },
        "token-notices": {
            "description": "Logs which tokens expire soon.",
            "handler": "orbit.token_notices",
            "schedule_type": "CRON",
            "cron": "30 5 * * *",
            "recovery_safety": "REPLAY_SAFE",
            "max_attempts": 3,
        },
    },
}


class Command(BaseCommand):
    """The command `init_jobs`."""

    help = (
        "Create the demo's and the platform's jobs, and a token for the open job API."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Where the jobs' tasks wait."""
        parser.add_argument("--queue-id", help="of init_dev; default: the queue demo")
        parser.add_argument(
            "--json", action="store_true", help="print one JSON object and nothing else"
        )

    def handle(self, *args: object, **options: object) -> None:
        """Find or make groups and jobs; issue a new token each time."""
        del args
        queue = _queue(options["queue_id"])
        jobs = {group: _jobs(group, queue) for group in JOBS}
        token = _issue(queue)
        told = {"jobs": jobs[DEMO], "tokens": {"jobs": token}}
        if options["json"]:
            self.stdout.write(json.dumps(told))
            return
        for name, job_id in jobs[DEMO].items():
            self.stdout.write(f"{name:16} {job_id}")
        self.stdout.write(f"{'jobs':16} {token}")
        self.stdout.write("The token is shown only now: store it.")


def _queue(queue_id: object) -> QueuePlace:
    wanted = parse_id(str(queue_id)) if queue_id else None
    for place in queue_places():
        if place.id == wanted or (queue_id is None and place.name == DEMO):
            return place
    raise CommandError("There is no such queue. Run init_dev first.")


def _jobs(group: str, queue: QueuePlace) -> dict[str, str]:
    group_id = _group(group, queue.namespace_id)
    return {name: _job(name, group, group_id, queue).hex for name in JOBS[group]}


def _group(name: str, namespace_id: UUID) -> UUID:
    known = JobGroup.objects.filter(namespace_id=namespace_id, name=name).first()
    return known.id if known else create_group(namespace_id=namespace_id, name=name)


def _job(name: str, group: str, group_id: UUID, queue: QueuePlace) -> UUID:
    known = Job.objects.live().filter(group_id=group_id, name=name).first()
    if known is not None:
        return known.id
    draft = JobDraft(
        namespace_id=queue.namespace_id,
        group_id=group_id,
        queue_id=queue.id,
        name=name,
        **JOBS[group][name],  # type: ignore[arg-type]
    )
    return save_job(draft, job_id=None, by=BY)


def _issue(queue: QueuePlace) -> str:
    return issue_token(
        grant=TokenGrant(
            name="demo jobs",
            audience=Audience.OPEN_JOBS,
            namespace_id=queue.namespace_id,
            scopes=SCOPES[Audience.OPEN_JOBS],
            job_groups=(DEMO,),
            expires=LIFETIME,
        ),
        by=Actor(name=BY),
    ).plaintext
