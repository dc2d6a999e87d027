"""What the benchmarks call of the jobs in process; `fill COUNT` or `pace RATE SECONDS`.

Both start executions as the web process does, and send them to Celery.
"""

import sys
import uuid
from datetime import timedelta
from functools import partial
from uuid import UUID

import django

django.setup()

from bench.orbit.noop.handlers import NAME  # noqa: E402 (needs the apps)
from bench.orbit.place import place_of_environment  # noqa: E402
from bench.pace import pace  # noqa: E402
from openapi_app.actions.create_group import create_group  # noqa: E402
from openapi_app.actions.save_job import save_job  # noqa: E402
from openapi_app.actions.start_execution import start_execution  # noqa: E402
from openapi_app.actions.trigger_job import TriggerJob, trigger_job  # noqa: E402
from openapi_app.domain.idempotency import TriggerIdentity, read_key  # noqa: E402
from openapi_app.domain.job_rules import JobDraft  # noqa: E402
from openapi_app.domain.words import Source  # noqa: E402
from openapi_app.gateways.celery import send_execution  # noqa: E402
from openapi_app.models import Job  # noqa: E402
from orbit import clock  # noqa: E402
from tasks_app.public import Actor, ActorKind, patiently  # noqa: E402
from tokens_app import public as tokens  # noqa: E402

TRIGGERS_PER_MINUTE = 100_000
FILL_BATCH = 100


def create_job(*, namespace_id: UUID, queue_id: UUID) -> UUID:
    """The id of a job of the no-op handler."""
    group_id = create_group(namespace_id=namespace_id, name="bench")
    draft = JobDraft(
        namespace_id=namespace_id,
        group_id=group_id,
        queue_id=queue_id,
        name="noop",
        handler=NAME,
        recovery_safety="REPLAY_SAFE",
    )
    return save_job(draft, job_id=None, by="bench")


def issue_job_token(*, namespace_id: UUID, job_id: UUID, name: str) -> tuple[UUID, str]:
    """The id and plain text of a token that may start the job."""
    issued = tokens.issue_token(
        grant=tokens.TokenGrant(
            name=name,
            audience=tokens.Audience.OPEN_JOBS,
            namespace_id=namespace_id,
            scopes=tokens.SCOPES[tokens.Audience.OPEN_JOBS],
            expires=timedelta(days=1),
            job_ids=(job_id,),
            triggers_per_minute=TRIGGERS_PER_MINUTE,
        ),
        by=tokens.Actor(name="bench"),
    )
    return issued.token_id, issued.plaintext


def trigger(*, job_id: UUID, token_id: UUID) -> None:
    """Start the job by a new key."""
    triggered = trigger_job(
        TriggerJob(
            identity=TriggerIdentity(
                token_id=token_id, job_id=job_id, key_digest=read_key(uuid.uuid4().hex)
            ),
            key_id="bench",
            caller="bench",
            request_id=None,
        )
    )
    send_execution(triggered.execution_id)


def fill(count: int, *, job_id: UUID, token_id: UUID) -> None:
    """Start so many, a hundred in each transaction."""
    for start in range(0, count, FILL_BATCH):
        size = min(FILL_BATCH, count - start)
        started = patiently(partial(_start, size, job_id=job_id, token_id=token_id))
        for execution_id in started:
            send_execution(execution_id)


def _start(count: int, *, job_id: UUID, token_id: UUID, is_patient: bool) -> list[UUID]:
    job = Job.objects.keep(job_id)
    assert job
    return [
        start_execution(
            job=job,
            source=Source.OPEN_API,
            now=clock.now(),
            is_patient=is_patient,
            actor=Actor(id=token_id, kind=ActorKind.TOKEN),
            token_id=token_id,
        ).id
        for _ in range(count)
    ]


def main(verb: str, *numbers: str) -> None:
    """Do what the command line says."""
    place = place_of_environment()
    job_id, token_id = UUID(place.job_id), UUID(place.job_token_ids[0])
    if verb == "fill":
        fill(int(numbers[0]), job_id=job_id, token_id=token_id)
        return
    rate, seconds = map(float, numbers)
    pace(lambda: trigger(job_id=job_id, token_id=token_id), rate=rate, seconds=seconds)


if __name__ == "__main__":
    main(*sys.argv[1:])
