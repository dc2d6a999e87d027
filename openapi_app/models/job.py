"""Jobs and their groups."""

from typing import ClassVar
from uuid import UUID

from django.db import models
from django.db.models.functions import Now

from openapi_app.domain.schedule import Schedule
from openapi_app.domain.words import ScheduleType
from orbit.ids import new_id


class JobGroup(models.Model):
    """A set of jobs that a token's range can name."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    namespace_id = models.UUIDField()
    tenant_id = models.BigIntegerField(default=1, db_default=1)
    name = models.CharField(max_length=200)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "openapi_job_group"
        constraints = [
            models.UniqueConstraint(
                fields=["namespace_id", "name"], name="openapi_job_group_name_unique"
            )
        ]

    def __str__(self) -> str:
        return self.name


KEEP = """
SELECT j.*, g.name AS kept_group_name
FROM openapi_job j JOIN openapi_job_group g ON g.id = j.group_id
WHERE j.id = %s AND j.deleted_at IS NULL FOR SHARE OF j
"""


class JobQuerySet(models.QuerySet["Job"]):
    """The reads of jobs; a deleted job is left out of all of them."""

    def live(self) -> "JobQuerySet":
        """Jobs that are not deleted."""
        return self.filter(deleted_at__isnull=True)

    def lock(self, job_id: UUID) -> "Job | None":
        """The live job, locked to be changed; nothing starts meanwhile."""
        return self.live().select_for_update().filter(id=job_id).first()

    def keep(self, job_id: UUID) -> "Job | None":
        """The live job, kept as it is while executions are started.

        Several may keep it at once; who changes it waits for them. The job comes with
        `kept_group_name`.
        """
        return next(iter(self.raw(KEEP, [job_id])), None)


class Job(models.Model):
    """A handler with its parameters, when it fires, and how it recovers.

    `parameters` is exact JSON text. Times in milliseconds.
    """

    # Only on a job that JobQuerySet.keep() answered.
    kept_group_name: str

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    namespace_id = models.UUIDField()
    tenant_id = models.BigIntegerField(default=1, db_default=1)
    group = models.ForeignKey(JobGroup, on_delete=models.PROTECT)
    name = models.CharField(max_length=200)
    description = models.TextField(blank=True, default="")
    handler = models.CharField(max_length=200)
    parameters = models.TextField(default="{}")
    queue_id = models.UUIDField()
    schedule_type = models.CharField(max_length=8, default="NONE")
    cron = models.CharField(max_length=200, blank=True, default="")
    interval_seconds = models.PositiveIntegerField(null=True, blank=True)
    once_at = models.DateTimeField(null=True, blank=True)
    timezone = models.CharField(max_length=64, default="UTC")
    is_enabled = models.BooleanField(default=True)
    concurrency_policy = models.CharField(max_length=8, default="PARALLEL")
    misfire_policy = models.CharField(max_length=9, default="FIRE_ONCE")
    recovery_safety = models.CharField(max_length=14, default="RECONCILE_ONLY")
    max_attempts = models.PositiveSmallIntegerField(default=1)
    initial_delay_ms = models.BigIntegerField(default=0)
    max_delay_ms = models.BigIntegerField(default=0)
    attempt_timeout_ms = models.BigIntegerField(default=60_000)
    task_timeout_ms = models.BigIntegerField(default=3_600_000)
    sync_status = models.CharField(max_length=7, default="PENDING")
    sync_reason = models.CharField(max_length=500, blank=True, default="")
    schedule_set_at = models.DateTimeField(db_default=Now(), editable=False)
    next_run_at = models.DateTimeField(null=True, editable=False)
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    created_by = models.CharField(max_length=150, default="", editable=False)
    updated_at = models.DateTimeField(db_default=Now(), editable=False)
    updated_by = models.CharField(max_length=150, default="", editable=False)
    deleted_at = models.DateTimeField(null=True, editable=False)

    objects: ClassVar = JobQuerySet.as_manager()

    class Meta:
        db_table = "openapi_job"
        permissions = [("run_job", "Can run a job now")]
        indexes = [
            models.Index(
                fields=["next_run_at"],
                name="openapi_job_due",
                condition=models.Q(
                    is_enabled=True,
                    deleted_at__isnull=True,
                    next_run_at__isnull=False,
                ),
            ),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["group", "name"],
                condition=models.Q(deleted_at__isnull=True),
                name="openapi_job_name_unique",
            ),
            models.CheckConstraint(
                condition=models.Q(schedule_type="NONE")
                | (models.Q(schedule_type="CRON") & ~models.Q(cron=""))
                | models.Q(schedule_type="INTERVAL", interval_seconds__gte=1)
                | models.Q(schedule_type="ONCE", once_at__isnull=False),
                name="openapi_job_schedule_complete",
            ),
            models.CheckConstraint(
                condition=models.Q(
                    concurrency_policy__in=["PARALLEL", "SERIAL", "SKIP"]
                ),
                name="openapi_job_concurrency_known",
            ),
            models.CheckConstraint(
                condition=models.Q(misfire_policy__in=["FIRE_ONCE", "IGNORE"]),
                name="openapi_job_misfire_known",
            ),
            models.CheckConstraint(
                condition=models.Q(
                    recovery_safety__in=["RECONCILE_ONLY", "REPLAY_SAFE"]
                ),
                name="openapi_job_recovery_safety_known",
            ),
            models.CheckConstraint(
                condition=models.Q(sync_status__in=["PENDING", "SYNCED", "FAILED"]),
                name="openapi_job_sync_status_known",
            ),
            models.CheckConstraint(
                condition=models.Q(max_attempts__gte=1, max_attempts__lte=100),
                name="openapi_job_max_attempts_range",
            ),
            models.CheckConstraint(
                condition=models.Q(
                    task_timeout_ms__gte=models.F("attempt_timeout_ms"),
                    task_timeout_ms__lte=2_592_000_000,
                    attempt_timeout_ms__gte=1,
                ),
                name="openapi_job_budget_covers_attempt",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def schedule(self) -> Schedule:
        """When it fires, as rules can read it."""
        return Schedule(
            type=ScheduleType(self.schedule_type),
            since=self.schedule_set_at,
            cron=self.cron,
            interval_seconds=self.interval_seconds,
            once_at=self.once_at,
            timezone=self.timezone,
        )
