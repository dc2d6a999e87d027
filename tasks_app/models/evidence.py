"""Evidence: what arrived after a lease ended, and what was looked up since."""

from django.db import models

from orbit.ids import new_id
from tasks_app.models.attempt import Attempt
from tasks_app.models.namespace import Namespace


class Evidence(models.Model):
    """A late report, or what a probe found; kept word for word.

    A finding names the probe's own attempt. The database refuses any change.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    namespace = models.ForeignKey(
        Namespace, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False
    )
    task_id = models.UUIDField()
    attempt = models.ForeignKey(
        Attempt, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False
    )
    kind = models.CharField(max_length=9)
    content = models.TextField()
    digest = models.BinaryField()
    actor_id = models.UUIDField()
    received_at = models.DateTimeField()

    class Meta:
        db_table = "tasks_evidence"
        verbose_name_plural = "evidence"
        indexes = [
            models.Index(fields=["task_id", "received_at"], name="tasks_evidence_task")
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["attempt", "digest"], name="tasks_evidence_once"
            ),
            models.CheckConstraint(
                condition=models.Q(
                    kind__in=["succeed", "fail", "unknown", "cancelled", "probe"]
                ),
                name="tasks_evidence_kind_known",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} at {self.received_at:%Y-%m-%d %H:%M:%S}"
