"""The execution: the one record of a run of a job."""

from django.db import models

from openapi_app.models.job import Job
from orbit.ids import new_id


class JobExecution(models.Model):
    """Created before anything else happens; its task carries the state.

    `task_id` is null for a skipped execution only. `is_settled` says that there is no
    more to wait for: skipped, or the task is final, noted in that same transaction.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    namespace_id = models.UUIDField()
    tenant_id = models.BigIntegerField(default=1, db_default=1)
    job = models.ForeignKey(
        Job, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False
    )
    source = models.CharField(max_length=8)
    scheduled_for = models.DateTimeField(null=True)
    task_id = models.UUIDField(null=True)
    token_id = models.UUIDField(null=True)
    key_id = models.CharField(max_length=16, blank=True, default="")
    started_by = models.CharField(max_length=150, blank=True, default="")
    request_id = models.UUIDField(null=True)
    is_waiting_turn = models.BooleanField(default=False)
    is_settled = models.BooleanField(default=False)
    accepted_at = models.DateTimeField()
    resent_at = models.DateTimeField(null=True)
    resend_count = models.PositiveSmallIntegerField(default=0, db_default=0)

    class Meta:
        db_table = "openapi_job_execution"
        indexes = [
            models.Index(
                fields=["job", "accepted_at", "id"], name="openapi_execution_newest"
            ),
            # What a token started, for the token's page.
            models.Index(
                fields=["token_id", "accepted_at", "id"],
                name="openapi_execution_of_token",
                condition=models.Q(token_id__isnull=False),
            ),
            # Whether a job has anything left to wait for, and whose turn is next.
            models.Index(
                fields=["job", "accepted_at", "id"],
                name="openapi_execution_turn",
                condition=models.Q(is_settled=False),
            ),
        ]
        constraints = [
            # Two beats, one nominal time: one execution.
            models.UniqueConstraint(
                fields=["job", "scheduled_for"],
                condition=models.Q(scheduled_for__isnull=False),
                name="openapi_execution_nominal_unique",
            ),
            models.UniqueConstraint(
                fields=["task_id"],
                condition=models.Q(task_id__isnull=False),
                name="openapi_execution_task_unique",
            ),
            models.CheckConstraint(
                condition=models.Q(source__in=["CRON", "OPEN_API", "ADMIN"]),
                name="openapi_execution_source_known",
            ),
            models.CheckConstraint(
                condition=~models.Q(source="CRON")
                | models.Q(scheduled_for__isnull=False),
                name="openapi_execution_cron_has_nominal_time",
            ),
            models.CheckConstraint(
                condition=models.Q(is_settled=False) | models.Q(is_waiting_turn=False),
                name="openapi_execution_settled_waits_for_nothing",
            ),
            models.CheckConstraint(
                condition=models.Q(task_id__isnull=False) | models.Q(is_settled=True),
                name="openapi_execution_skipped_is_settled",
            ),
        ]

    def __str__(self) -> str:
        return self.id.hex

    @property
    def can_run_now(self) -> bool:
        """Whether a worker may claim it: nothing is before it and it is not over."""
        return not self.is_settled and not self.is_waiting_turn
