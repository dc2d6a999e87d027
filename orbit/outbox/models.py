"""The result event: what subscribers read, frozen once written."""

from django.db import models


class ResultEvent(models.Model):
    """One event of one task revision; the database refuses any change to it.

    `transaction_id` is the id of the transaction that wrote it: the feed orders by it,
    since commit order is not id order.
    """

    id = models.BigAutoField(primary_key=True)
    namespace_id = models.UUIDField()
    queue_id = models.UUIDField()
    task_id = models.UUIDField()
    revision = models.BigIntegerField()
    kind = models.CharField(max_length=32)
    payload = models.TextField()
    transaction_id = models.BigIntegerField()
    created_at = models.DateTimeField()

    class Meta:
        db_table = "outbox_result_event"
        indexes = [
            models.Index(
                fields=["namespace_id", "transaction_id", "id"],
                name="outbox_event_feed",
            ),
            # How much comes to need review.
            models.Index(
                fields=["queue_id", "created_at"],
                name="outbox_event_needs_review",
                condition=models.Q(kind="task.needs_review"),
            ),
            # The few events of a task that the unique revision does not lead to.
            models.Index(
                fields=["task_id", "id"],
                name="outbox_event_contradicted",
                condition=models.Q(kind="task.contradicted"),
            ),
        ]
        constraints = [
            # A contradiction is no move: it comes beside the revision it is about.
            models.UniqueConstraint(
                fields=["task_id", "revision"],
                condition=~models.Q(kind="task.contradicted"),
                name="outbox_event_once_per_revision",
            )
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.task_id.hex} r{self.revision}"
