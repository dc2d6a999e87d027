"""Migrates a database and makes a namespace, eight queues and a token; prints ids."""

import json
import sys

import django
from django.core.management import call_command

django.setup()

from bench.orbit import engine, jobs  # noqa: E402 (needs the apps)

QUEUES = 8
JOB_TOKENS = 8
LIMIT = 100_000_000


def main() -> None:
    """Prepare the database that DATABASE_URL names."""
    call_command("migrate", verbosity=0)
    namespace = engine.create_namespace(name="default", number=1)
    application = engine.create_application(
        namespace_id=namespace, name="bench", max_outstanding=LIMIT
    )
    queues = [
        engine.create_queue(
            namespace_id=namespace,
            application_id=application,
            name=f"bench-{number}",
            max_outstanding=LIMIT,
        )
        for number in range(QUEUES)
    ]
    actor, token = engine.issue_token(
        namespace_id=namespace, application_id=application, queue_ids=queues
    )
    job = jobs.create_job(namespace_id=namespace, queue_id=queues[0])
    job_tokens = [
        jobs.issue_job_token(namespace_id=namespace, job_id=job, name=f"jobs-{number}")
        for number in range(JOB_TOKENS)
    ]
    json.dump(
        {
            "namespace_id": namespace.hex,
            "application_id": application.hex,
            "queue_ids": [queue.hex for queue in queues],
            "actor_id": actor.hex,
            "token": token,
            "job_id": job.hex,
            "job_token_ids": [token_id.hex for token_id, _ in job_tokens],
            "job_tokens": [plaintext for _, plaintext in job_tokens],
        },
        sys.stdout,
    )


if __name__ == "__main__":
    main()
