"""Makes a namespace, an application, a queue and tokens to begin with."""

import json
from argparse import ArgumentParser
from datetime import timedelta
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError

from tasks_app.actions.create_application import create_application
from tasks_app.actions.create_namespace import create_namespace
from tasks_app.actions.create_queue import create_queue
from tasks_app.domain.access import Reach
from tasks_app.domain.limits import QueueLimits
from tasks_app.models import Application, Namespace, Queue
from tokens_app.public import Actor, Audience, TokenGrant, issue_token

NAMESPACE, APPLICATION, QUEUE = "default", "demo", "demo"
LIFETIME = timedelta(days=90)
DEMO_LEASE_MS = 10_000

TOKENS = {
    "submitter": ("tasks:submit", "tasks:read", "tasks:cancel", "events:read"),
    "worker": ("tasks:work",),
}
RECOVERY_TOKENS = {
    "operator": ("tasks:read", "tasks:review", "tasks:retry", "tasks:audit:read"),
    "auditor": ("tasks:read", "tasks:audit:read"),
}


class Command(BaseCommand):
    """The command `init_dev`."""

    help = "Create a namespace, application, queue and tokens on any database."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Review, retry and audit permissions only with the flag."""
        parser.add_argument(
            "--recovery-access",
            action="store_true",
            help="also issue tokens that may review, retry and read the audit",
        )
        parser.add_argument(
            "--json", action="store_true", help="print one JSON object and nothing else"
        )

    def handle(self, *args: object, **options: object) -> None:
        """Find or make the places; issue new tokens each time."""
        del args
        queue = _queue()
        wanted = TOKENS | (RECOVERY_TOKENS if options["recovery_access"] else {})
        tokens = {name: _issue(name, wanted[name], queue) for name in wanted}
        demo = {
            "namespace_id": queue.namespace_id.hex,
            "application_id": queue.application_id.hex,
            "queue_id": queue.id.hex,
            "tokens": tokens,
        }
        if options["json"]:
            self.stdout.write(json.dumps(demo))
            return
        self.stdout.write(f"queue      {demo['queue_id']}")
        for name, plaintext in tokens.items():
            self.stdout.write(f"{name:10} {plaintext}")
        self.stdout.write("The tokens are shown only now: store them.")


def _queue() -> Queue:
    namespace = Namespace.objects.filter(name=NAMESPACE).first()
    namespace_id = namespace.id if namespace else _new_namespace()
    application = Application.objects.filter(
        namespace_id=namespace_id, name=APPLICATION
    ).first()
    application_id = (
        application.id
        if application
        else create_application(
            namespace_id=namespace_id, name=APPLICATION, max_outstanding=1_000_000
        )
    )
    queue = Queue.objects.filter(application_id=application_id, name=QUEUE).first()
    if queue is not None:
        return queue
    queue_id = create_queue(
        application_id=application_id,
        name=QUEUE,
        limits=QueueLimits(lease_ms=DEMO_LEASE_MS),
        reach=Reach(namespace_id=namespace_id, queue_ids=None),
    )
    return Queue.objects.get(id=queue_id)


def _new_namespace() -> UUID:
    if Namespace.objects.filter(number=1).exists():
        raise CommandError("Tenant 1 has another name than 'default'; name it so.")
    return create_namespace(name=NAMESPACE, number=1)


def _issue(name: str, scopes: tuple[str, ...], queue: Queue) -> str:
    return issue_token(
        grant=TokenGrant(
            name=f"demo {name}",
            audience=Audience.TASKS,
            namespace_id=queue.namespace_id,
            application_id=queue.application_id,
            scopes=scopes,
            queue_ids=(queue.id,),
            expires=LIFETIME,
        ),
        by=Actor(name="init_dev"),
    ).plaintext
