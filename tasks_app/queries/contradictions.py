"""Late reports that disagree with an outcome, for those who must look at them."""

from collections.abc import Collection
from uuid import UUID

from django.db.models import Q

from tasks_app.domain.access import Reach
from tasks_app.models import Contradiction, Task
from tasks_app.queries import Position


def contradictions_within(
    reach: Reach, *, task_id: UUID | None = None, after: Position | None, limit: int
) -> list[Contradiction]:
    """Contradictions, newest first, `limit` of them and one more if there are more.

    Of one task if `task_id` is given; a task out of reach has none.
    """
    found = Contradiction.objects.filter(namespace_id=reach.namespace_id)
    if reach.queue_ids is not None:
        found = found.filter(queue_id__in=reach.queue_ids)
    if task_id is not None:
        found = found.filter(task_id=task_id)
    if after is not None:
        created_at, contradiction_id = after
        found = found.filter(
            Q(created_at__lt=created_at)
            | Q(created_at=created_at, id__lt=contradiction_id),
            created_at__lte=created_at,
        )
    return list(found.order_by("-created_at", "-id")[: limit + 1])


def names_of_tasks(task_ids: Collection[UUID]) -> dict[UUID, str]:
    """What people call each task: its business key, or else its id."""
    if not task_ids:
        return {}
    found = Task.objects.filter(id__in=task_ids).values_list("id", "business_key")
    return {task_id: key or task_id.hex for task_id, key in found}
