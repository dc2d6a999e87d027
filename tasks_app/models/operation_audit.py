"""The operation audit: one immutable record of each act on a task."""

from django.db import models

from orbit.ids import new_id
from tasks_app.models.namespace import Namespace


class OperationAudit(models.Model):
    """Who did what to a task, why, and what it was before and after.

    `before` and `after` are JSON text. The database refuses UPDATE, DELETE and
    TRUNCATE, and refuses a change of state that has no record here.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    namespace = models.ForeignKey(
        Namespace, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False
    )
    task_id = models.UUIDField()
    operation_id = models.UUIDField()
    actor_id = models.UUIDField()
    actor_kind = models.CharField(max_length=6)
    action = models.CharField(max_length=32)
    revision = models.BigIntegerField()
    reason = models.TextField(null=True)  # noqa: DJ001
    evidence_ref = models.TextField(null=True)  # noqa: DJ001
    before = models.TextField(null=True)  # noqa: DJ001
    after = models.TextField()
    created_at = models.DateTimeField()

    class Meta:
        db_table = "tasks_operation_audit"
        indexes = [
            models.Index(
                fields=["task_id", "-created_at", "-id"], name="tasks_audit_task_newest"
            )
        ]

    def __str__(self) -> str:
        return f"{self.action} at {self.created_at:%Y-%m-%d %H:%M:%S}"
