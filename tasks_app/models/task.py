"""The task: one unit of work."""

from typing import ClassVar

from django.db import models

from orbit.ids import new_id
from tasks_app.models.namespace import Application, Namespace
from tasks_app.models.queue import Queue

STATES = [
    "WAITING",
    "RUNNING",
    "NEEDS_REVIEW",
    "SUCCEEDED",
    "FAILED",
    "CANCELLED",
]
FINAL_STATES = ["SUCCEEDED", "FAILED", "CANCELLED"]
OUTCOMES = ["SUCCEEDED", "FAILED", "UNKNOWN", "CANCELLED"]


class TaskQuerySet(models.QuerySet["Task"]):
    """Reads for pages; the engine's writes are in models/statements."""

    def without_payload(self) -> "TaskQuerySet":
        """Rows for lists: payload and result stay in the database."""
        return self.defer("payload", "result")


class Task(models.Model):
    """One unit of work; written only by the statements beside this model.

    References are plain columns without database foreign keys: each is verified in
    the transaction that writes it, under the task's own lock.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    namespace = models.ForeignKey(
        Namespace, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False
    )
    application = models.ForeignKey(
        Application, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False
    )
    queue = models.ForeignKey(
        Queue, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False
    )
    owner_kind = models.CharField(max_length=10)
    owner_id = models.UUIDField(null=True)
    is_gated = models.BooleanField()
    state = models.CharField(max_length=12)
    revision = models.BigIntegerField()
    handler = models.CharField(max_length=200)
    handler_version = models.CharField(max_length=64)
    payload_version = models.CharField(max_length=64)
    payload = models.TextField()
    business_key = models.CharField(max_length=512, null=True)  # noqa: DJ001
    concurrency_key = models.CharField(max_length=512, null=True)  # noqa: DJ001
    priority = models.SmallIntegerField()
    recovery_safety = models.CharField(max_length=14)
    max_attempts = models.SmallIntegerField()
    initial_delay_ms = models.BigIntegerField()
    max_delay_ms = models.BigIntegerField()
    attempt_timeout_ms = models.BigIntegerField()
    available_at = models.DateTimeField()
    due_at = models.DateTimeField()
    is_due = models.BooleanField()
    start_deadline_at = models.DateTimeField(null=True)
    deadline_at = models.DateTimeField()
    attempt_count = models.SmallIntegerField()
    lease_attempt_id = models.UUIDField(null=True)
    lease_seq = models.BigIntegerField()
    last_outcome = models.CharField(max_length=9, null=True)  # noqa: DJ001
    effect_uncertain = models.BooleanField()
    cancel_requested_at = models.DateTimeField(null=True)
    result = models.TextField(null=True)  # noqa: DJ001
    error_code = models.CharField(max_length=100, null=True)  # noqa: DJ001
    error_message = models.TextField(null=True)  # noqa: DJ001
    completed_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()
    retry_of = models.UUIDField(null=True)
    submitted_by = models.UUIDField()
    audit_length = models.BigIntegerField()
    audit_head = models.BinaryField()

    objects: ClassVar = TaskQuerySet.as_manager()

    class Meta:
        db_table = "tasks_task"
        permissions = [
            ("review_task", "Can settle a task whose outcome is unknown"),
            ("retry_task", "Can run a failed or cancelled task again"),
        ]
        indexes = [
            # The claim: highest priority, longest due, then id.
            models.Index(
                models.F("queue"),
                models.F("priority").desc(),
                models.F("due_at"),
                models.F("id"),
                name="tasks_task_claim",
                condition=models.Q(state="WAITING", is_due=True, is_gated=False),
            ),
            # Promotion: waiting tasks whose time has not come yet.
            models.Index(
                fields=["due_at"],
                name="tasks_task_promote",
                condition=models.Q(state="WAITING", is_due=False),
            ),
            models.Index(
                fields=["owner_id", "-created_at", "-id"],
                name="tasks_task_probes",
                condition=models.Q(owner_kind="PROBE"),
            ),
            # What a schedule owns and nobody has claimed yet.
            models.Index(
                fields=["due_at"],
                name="tasks_task_unclaimed",
                condition=models.Q(
                    state="WAITING", owner_kind="SCHEDULE", is_gated=False
                ),
            ),
            # Deadlines of what waits.
            models.Index(
                fields=["deadline_at"],
                name="tasks_task_deadline",
                condition=models.Q(state="WAITING"),
            ),
            models.Index(
                fields=["start_deadline_at"],
                name="tasks_task_start_deadline",
                condition=models.Q(state="WAITING", start_deadline_at__isnull=False),
            ),
            # The inbox: what needs review, oldest first.
            models.Index(
                fields=["queue", "updated_at", "id"],
                name="tasks_task_needs_review",
                condition=models.Q(state="NEEDS_REVIEW"),
            ),
            # Owners whose work stands still because of it.
            models.Index(
                fields=["queue", "owner_kind", "owner_id"],
                name="tasks_task_owned_in_review",
                condition=models.Q(state="NEEDS_REVIEW", owner_id__isnull=False),
            ),
            # What people settled: no worker's report leaves an unknown outcome final.
            models.Index(
                fields=["queue", "completed_at"],
                name="tasks_task_settled",
                condition=models.Q(last_outcome="UNKNOWN", completed_at__isnull=False),
            ),
            # Lists, newest first; filters read along it.
            models.Index(
                fields=["namespace", "created_at", "id"], name="tasks_task_created"
            ),
            # Lists by state: what did not simply succeed is little, and stays so.
            models.Index(
                fields=["namespace", "state", "created_at", "id"],
                name="tasks_task_by_state",
                condition=~models.Q(state="SUCCEEDED"),
            ),
            models.Index(
                fields=["namespace", "business_key", "created_at"],
                name="tasks_task_business_key",
                condition=models.Q(business_key__isnull=False),
            ),
        ]
        constraints = [
            # One look at a time.
            models.UniqueConstraint(
                fields=["owner_id"],
                name="tasks_task_one_open_probe",
                condition=models.Q(owner_kind="PROBE")
                & ~models.Q(state__in=["SUCCEEDED", "FAILED", "CANCELLED"]),
            ),
            # One direct successor for each source.
            models.UniqueConstraint(
                fields=["namespace", "retry_of"],
                condition=models.Q(retry_of__isnull=False),
                name="tasks_task_one_successor",
            ),
            models.CheckConstraint(
                condition=models.Q(retry_of__isnull=True)
                | ~models.Q(retry_of=models.F("id")),
                name="tasks_task_not_its_own_retry",
            ),
            models.CheckConstraint(
                condition=models.Q(state__in=STATES), name="tasks_task_state_known"
            ),
            models.CheckConstraint(
                condition=models.Q(
                    owner_kind__in=["STANDALONE", "SCHEDULE", "WORKFLOW", "PROBE"]
                ),
                name="tasks_task_owner_kind_known",
            ),
            models.CheckConstraint(
                condition=models.Q(owner_kind="STANDALONE", owner_id__isnull=True)
                | models.Q(
                    owner_kind__in=["SCHEDULE", "WORKFLOW", "PROBE"],
                    owner_id__isnull=False,
                ),
                name="tasks_task_owner_named",
            ),
            models.CheckConstraint(
                condition=models.Q(
                    recovery_safety__in=["RECONCILE_ONLY", "REPLAY_SAFE"]
                ),
                name="tasks_task_recovery_safety_known",
            ),
            models.CheckConstraint(
                condition=models.Q(last_outcome__isnull=True)
                | models.Q(last_outcome__in=OUTCOMES),
                name="tasks_task_last_outcome_known",
            ),
            models.CheckConstraint(
                condition=models.Q(state="RUNNING", lease_attempt_id__isnull=False)
                | (
                    ~models.Q(state="RUNNING") & models.Q(lease_attempt_id__isnull=True)
                ),
                name="tasks_task_running_iff_leased",
            ),
            models.CheckConstraint(
                condition=models.Q(state__in=FINAL_STATES, completed_at__isnull=False)
                | (
                    ~models.Q(state__in=FINAL_STATES)
                    & models.Q(completed_at__isnull=True)
                ),
                name="tasks_task_completed_iff_final",
            ),
            models.CheckConstraint(
                condition=models.Q(effect_uncertain=False)
                | models.Q(state="NEEDS_REVIEW"),
                name="tasks_task_uncertain_needs_review",
            ),
            models.CheckConstraint(
                condition=models.Q(revision__gte=1), name="tasks_task_revision_positive"
            ),
            models.CheckConstraint(
                condition=models.Q(attempt_count__lte=models.F("max_attempts")),
                name="tasks_task_attempts_bounded",
            ),
        ]

    def __str__(self) -> str:
        return self.id.hex
