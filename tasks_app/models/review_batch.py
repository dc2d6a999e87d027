"""Batches of reviews: what was decided, for which tasks, and what became of each."""

from django.db import models

from orbit.ids import new_id
from tasks_app.domain.batches import BatchState, ItemState
from tasks_app.models.namespace import Namespace


class ReviewBatch(models.Model):
    """One decision for many tasks of a queue; `result` is exact JSON text.

    The decision and the membership are frozen when it is created.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    namespace = models.ForeignKey(
        Namespace, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False
    )
    queue_id = models.UUIDField()
    state = models.CharField(max_length=8)
    outcome = models.CharField(max_length=12)
    result = models.TextField()
    reason = models.CharField(max_length=1024)
    evidence_ref = models.CharField(max_length=512)
    cause = models.TextField()
    canary = models.PositiveSmallIntegerField()
    total = models.PositiveIntegerField()
    actor_id = models.UUIDField()
    actor_kind = models.CharField(max_length=6)
    form_key = models.UUIDField()
    # What the key stands for: another decision with the same key is refused.
    content_digest = models.BinaryField(default=b"")
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()

    class Meta:
        db_table = "tasks_review_batch"
        verbose_name_plural = "review batches"
        indexes = [
            models.Index(
                fields=["-created_at", "-id"],
                name="tasks_review_batch_newest",
            ),
            # What the runners look for.
            models.Index(
                fields=["created_at"],
                name="tasks_review_batch_running",
                condition=models.Q(state__in=["CANARY", "RUNNING"]),
            ),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["namespace", "form_key"], name="tasks_review_batch_once"
            ),
            models.CheckConstraint(
                condition=models.Q(state__in=[it.value for it in BatchState]),
                name="tasks_review_batch_state_known",
            ),
        ]

    def __str__(self) -> str:
        return self.id.hex


class ReviewBatchItem(models.Model):
    """One task of a batch at the revision it had; it is in exactly one state.

    `evidence_count` is how much evidence there was of it: it is not settled over more.
    """

    batch = models.ForeignKey(
        ReviewBatch, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False
    )
    position = models.PositiveIntegerField()
    task_id = models.UUIDField()
    expected_revision = models.BigIntegerField()
    evidence_ref = models.CharField(max_length=512, blank=True, default="")
    evidence_count = models.PositiveIntegerField(default=0)
    state = models.CharField(max_length=8, default="PENDING")
    code = models.CharField(max_length=32, blank=True, default="", db_default="")
    message = models.TextField(blank=True, default="", db_default="")
    audit_id = models.UUIDField(null=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "tasks_review_batch_item"
        indexes = [
            models.Index(
                fields=["batch", "state", "position"],
                name="tasks_review_batch_item_state",
            )
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["batch", "position"], name="tasks_review_batch_item_place"
            ),
            models.UniqueConstraint(
                fields=["batch", "task_id"], name="tasks_review_batch_item_once"
            ),
            models.CheckConstraint(
                condition=models.Q(state__in=[it.value for it in ItemState]),
                name="tasks_review_batch_item_state_known",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.position} {self.state}"


class ReviewBatchEvent(models.Model):
    """Who did what with a batch; the database refuses any change to it."""

    batch = models.ForeignKey(
        ReviewBatch, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False
    )
    verb = models.CharField(max_length=8)
    state = models.CharField(max_length=8)
    actor_id = models.UUIDField()
    actor_kind = models.CharField(max_length=6)
    created_at = models.DateTimeField()

    class Meta:
        db_table = "tasks_review_batch_event"
        indexes = [
            models.Index(fields=["batch", "id"], name="tasks_review_batch_event_order")
        ]

    def __str__(self) -> str:
        return f"{self.verb} at {self.created_at:%Y-%m-%d %H:%M:%S}"
