"""The permit: this attempt occupies this limit."""

from django.db import models

from tasks_app.models.attempt import Attempt
from tasks_app.models.namespace import Namespace


class Permit(models.Model):
    """A slot of a queue or of a concurrency key; the row's removal releases it.

    Written only where a limit exists. A row is there while its attempt is active, so
    the holders can always be counted anew.
    """

    namespace = models.ForeignKey(
        Namespace, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False
    )
    attempt = models.ForeignKey(
        Attempt, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False
    )
    task_id = models.UUIDField()
    queue_id = models.UUIDField()
    kind = models.CharField(max_length=5)
    concurrency_key = models.CharField(max_length=512, null=True)  # noqa: DJ001
    acquired_at = models.DateTimeField()

    class Meta:
        db_table = "tasks_permit"
        indexes = [
            models.Index(
                fields=["queue_id", "kind", "concurrency_key"],
                name="tasks_permit_holders",
            ),
            models.Index(fields=["task_id"], name="tasks_permit_task"),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["attempt", "kind"], name="tasks_permit_once_per_limit"
            ),
            models.CheckConstraint(
                condition=models.Q(kind="QUEUE", concurrency_key__isnull=True)
                | models.Q(kind="KEY", concurrency_key__isnull=False),
                name="tasks_permit_kind_known",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.concurrency_key or self.queue_id}"
