"""The receipt: the answer of an idempotent write, given again to the same key."""

from django.db import models

from tasks_app.models.namespace import Namespace


class Receipt(models.Model):
    """What one key did; of the key and the content only SHA-256 digests are stored.

    The answer is the task with `state`, `revision`, `attempt_count` and `updated_at`
    as they were then: all else of a task is frozen, or comes only with a later state.
    """

    namespace = models.ForeignKey(
        Namespace, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False
    )
    operation = models.CharField(max_length=16)
    subject_id = models.UUIDField()
    key_digest = models.BinaryField()
    content_digest = models.BinaryField()
    task_id = models.UUIDField()
    audit_id = models.UUIDField()
    state = models.CharField(max_length=12)
    revision = models.BigIntegerField()
    attempt_count = models.SmallIntegerField()
    updated_at = models.DateTimeField()
    created_at = models.DateTimeField()

    class Meta:
        db_table = "tasks_receipt"
        constraints = [
            models.UniqueConstraint(
                fields=["namespace", "operation", "subject_id", "key_digest"],
                name="tasks_receipt_key_unique",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.operation} {self.task_id.hex}"
