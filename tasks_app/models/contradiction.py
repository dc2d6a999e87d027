"""The contradiction: a late report disagrees with the outcome that a task has."""

from django.db import models

from orbit.ids import new_id
from tasks_app.models.namespace import Namespace


class Contradiction(models.Model):
    """One for each piece of evidence that disagrees; the outcome stays.

    `audit_id` is the operation that declared the outcome. The digests are of results
    in canonical JSON. The database refuses UPDATE, DELETE and TRUNCATE.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    namespace = models.ForeignKey(
        Namespace, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False
    )
    queue_id = models.UUIDField()
    task_id = models.UUIDField()
    attempt_id = models.UUIDField()
    evidence_id = models.UUIDField()
    audit_id = models.UUIDField()
    revision = models.BigIntegerField()
    kind = models.CharField(max_length=7)
    declared = models.CharField(max_length=12)
    claimed = models.CharField(max_length=12)
    declared_digest = models.BinaryField(null=True)
    claimed_digest = models.BinaryField(null=True)
    created_at = models.DateTimeField()

    class Meta:
        db_table = "tasks_contradiction"
        indexes = [
            # Lists, newest first.
            models.Index(
                fields=["namespace", "-created_at", "-id"],
                name="tasks_contradiction_newest",
            ),
            models.Index(
                fields=["task_id", "-created_at", "-id"],
                name="tasks_contradiction_task",
            ),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["evidence_id"], name="tasks_contradiction_once"
            ),
            models.CheckConstraint(
                condition=models.Q(kind__in=["OUTCOME", "RESULT"]),
                name="tasks_contradiction_kind_known",
            ),
            models.CheckConstraint(
                condition=models.Q(declared__in=["SUCCEEDED", "FAILED", "CANCELLED"])
                & models.Q(claimed__in=["SUCCEEDED", "FAILED", "CANCELLED"]),
                name="tasks_contradiction_of_outcomes",
            ),
            models.CheckConstraint(
                condition=(
                    models.Q(kind="OUTCOME") & ~models.Q(declared=models.F("claimed"))
                )
                | models.Q(
                    kind="RESULT",
                    declared="SUCCEEDED",
                    claimed="SUCCEEDED",
                    declared_digest__isnull=False,
                    claimed_digest__isnull=False,
                ),
                name="tasks_contradiction_contradicts",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.declared}, but {self.claimed} of {self.task_id.hex}"
