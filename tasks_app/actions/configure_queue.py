"""Change the limits of a queue while it is at work."""

from dataclasses import fields
from uuid import UUID

from django.db import transaction

from tasks_app.domain.limits import QueueLimits
from tasks_app.models import Queue
from tasks_app.models.statements.limits import BACKFILL_PERMITS, LOCK_CLAIMS
from tasks_app.models.statements.quota import change_limit
from tasks_app.models.statements.run import rows

SETTINGS = [setting.name for setting in fields(QueueLimits)]


def configure_queue(*, queue_id: UUID, limits: QueueLimits) -> None:
    """Set all limits at once; attempts that run already count against new ones.

    Waits for the claims under way. Raises Queue.DoesNotExist.
    """
    with transaction.atomic(durable=True):
        rows(LOCK_CLAIMS, {"queue": queue_id})
        queue = Queue.objects.select_for_update().get(id=queue_id)
        more = limits.max_outstanding - queue.max_outstanding
        for name in SETTINGS:
            setattr(queue, name, getattr(limits, name))
        queue.save(update_fields=SETTINGS)
        rows(
            BACKFILL_PERMITS,
            {
                "queue": queue_id,
                "slots": limits.max_concurrency is not None,
                "keys": limits.key_concurrency is not None,
            },
        )
        if more:
            change_limit(scope=queue_id, by=more)
