"""The attempt: one execution of a task under one lease."""

from django.db import models

from orbit.ids import new_id
from tasks_app.models.namespace import Namespace
from tasks_app.models.task import Task


class Attempt(models.Model):
    """One execution by one worker; of the lease token only the hash is stored."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    namespace = models.ForeignKey(
        Namespace, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False
    )
    task = models.ForeignKey(
        Task, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False
    )
    queue_id = models.UUIDField()
    number = models.SmallIntegerField()
    lease_seq = models.BigIntegerField()
    lease_token_hash = models.BinaryField()
    lease_ms = models.IntegerField()
    lease_expires_at = models.DateTimeField()
    expires_by = models.DateTimeField()
    worker_id = models.UUIDField()
    worker_name = models.CharField(max_length=200)
    worker_instance_id = models.UUIDField()
    outcome = models.CharField(max_length=9)
    started_at = models.DateTimeField()
    heartbeat_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    error_code = models.CharField(max_length=100, null=True)  # noqa: DJ001
    error_message = models.TextField(null=True)  # noqa: DJ001
    report_digest = models.BinaryField(null=True)

    class Meta:
        db_table = "tasks_attempt"
        indexes = [
            # The reaper: leases that ran out.
            models.Index(
                fields=["lease_expires_at"],
                name="tasks_attempt_lease",
                condition=models.Q(outcome="ACTIVE"),
            ),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["task", "number"], name="tasks_attempt_number_unique"
            ),
            models.UniqueConstraint(
                fields=["task"],
                condition=models.Q(outcome="ACTIVE"),
                name="tasks_attempt_one_active",
            ),
            models.CheckConstraint(
                condition=models.Q(
                    outcome__in=[
                        "ACTIVE",
                        "SUCCEEDED",
                        "FAILED",
                        "UNKNOWN",
                        "CANCELLED",
                    ]
                ),
                name="tasks_attempt_outcome_known",
            ),
            models.CheckConstraint(
                condition=models.Q(outcome="ACTIVE", ended_at__isnull=True)
                | (~models.Q(outcome="ACTIVE") & models.Q(ended_at__isnull=False)),
                name="tasks_attempt_ended_iff_not_active",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.task_id.hex} #{self.number}"
