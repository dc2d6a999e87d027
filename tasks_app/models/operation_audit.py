"""The operation audit: one immutable record of each act on a task."""

from django.db import models

from orbit.ids import new_id
from tasks_app.models.namespace import Namespace


class OperationAudit(models.Model):
    """Who did what to a task, why, and what it was before and after.

    `before` and `after` are JSON text. The database refuses UPDATE, DELETE and
    TRUNCATE, and refuses a change of state that has no record here. The records of a
    task are a chain: each has its place and the hash of the one before, and the task's
    row has the length and the hash of the last. `approver` is the second person where
    an act took two.
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
    approver_id = models.UUIDField(null=True)
    approver_kind = models.CharField(max_length=6, null=True)  # noqa: DJ001
    sequence = models.BigIntegerField()
    previous_hash = models.BinaryField()
    entry_hash = models.BinaryField()

    class Meta:
        db_table = "tasks_operation_audit"
        indexes = [
            models.Index(
                fields=["task_id", "-created_at", "-id"], name="tasks_audit_task_newest"
            )
        ]
        constraints = [
            # A chain never forks.
            models.UniqueConstraint(
                fields=["task_id", "sequence"], name="tasks_audit_one_successor"
            )
        ]

    def __str__(self) -> str:
        return f"{self.action} at {self.created_at:%Y-%m-%d %H:%M:%S}"
