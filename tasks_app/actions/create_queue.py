"""Create a queue with the shares of its quota."""

from uuid import UUID

from django.db import transaction

from tasks_app.domain.access import Reach
from tasks_app.domain.limits import QueueLimits
from tasks_app.models import Application, Queue, QueueThrottle
from tasks_app.models.statements.quota import open_scope


def create_queue(
    *, application_id: UUID, name: str, limits: QueueLimits, reach: Reach
) -> UUID:
    """The id of the new queue. Raises Application.DoesNotExist, IntegrityError."""
    with transaction.atomic(durable=True):
        application = Application.objects.get(
            id=application_id, namespace_id=reach.namespace_id
        )
        queue = Queue.objects.create(
            namespace_id=application.namespace_id,
            application=application,
            name=name,
            is_paused=limits.is_paused,
            max_outstanding=limits.max_outstanding,
            max_concurrency=limits.max_concurrency,
            rate_per_second=limits.rate_per_second,
            key_concurrency=limits.key_concurrency,
            lease_ms=limits.lease_ms,
            reviewer_may_be_submitter=limits.reviewer_may_be_submitter,
            second_approver=limits.second_approver,
            approval_seconds=limits.approval_seconds,
        )
        QueueThrottle.objects.create(
            queue=queue, tokens=0.0, refilled_at=queue.created_at
        )
        open_scope(scope=queue.id, limit=limits.max_outstanding)
        return queue.id
