"""Queues, their limits, and the shares in which quota is handed out."""

from django.db import models
from django.db.models.functions import Now

from orbit.ids import new_id
from tasks_app.models.namespace import Application, Namespace

DEFAULT_QUEUE_LIMIT = 100_000
DEFAULT_LEASE_MS = 30_000
DEFAULT_APPROVAL_SECONDS = 86_400


class Queue(models.Model):
    """Where tasks wait; a limit that is null does not exist."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    namespace = models.ForeignKey(Namespace, on_delete=models.PROTECT)
    application = models.ForeignKey(Application, on_delete=models.PROTECT)
    name = models.CharField(max_length=200)
    is_paused = models.BooleanField(default=False, db_default=False)
    max_outstanding = models.BigIntegerField(default=DEFAULT_QUEUE_LIMIT)
    max_concurrency = models.PositiveIntegerField(null=True, blank=True)
    rate_per_second = models.FloatField(null=True, blank=True)
    key_concurrency = models.PositiveIntegerField(null=True, blank=True)
    lease_ms = models.PositiveIntegerField(default=DEFAULT_LEASE_MS)
    reviewer_may_be_submitter = models.BooleanField(default=True, db_default=True)
    second_approver = models.BooleanField(default=False, db_default=False)
    approval_seconds = models.PositiveIntegerField(
        default=DEFAULT_APPROVAL_SECONDS, db_default=DEFAULT_APPROVAL_SECONDS
    )
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "tasks_queue"
        constraints = [
            models.UniqueConstraint(
                fields=["application", "name"], name="tasks_queue_name_unique"
            ),
            models.CheckConstraint(
                condition=models.Q(max_outstanding__gte=0),
                name="tasks_queue_max_outstanding_not_negative",
            ),
            models.CheckConstraint(
                condition=models.Q(rate_per_second__isnull=True)
                | models.Q(rate_per_second__gt=0),
                name="tasks_queue_rate_positive",
            ),
            models.CheckConstraint(
                condition=models.Q(lease_ms__gte=1_000, lease_ms__lte=300_000),
                name="tasks_queue_lease_ms_range",
            ),
            models.CheckConstraint(
                condition=models.Q(
                    approval_seconds__gte=1, approval_seconds__lte=2_592_000
                ),
                name="tasks_queue_approval_seconds_range",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class QuotaShare(models.Model):
    """A part of what a queue or application may still accept.

    The shares of one scope add up to max_outstanding less what is outstanding, at
    every commit. Writers take from and give to any one share, so no row serialises a
    queue. Only share 0 may be negative: when a limit was lowered below what is
    outstanding.
    """

    pk = models.CompositePrimaryKey("scope_id", "number")
    scope_id = models.UUIDField()
    number = models.SmallIntegerField()
    available = models.BigIntegerField()

    class Meta:
        db_table = "tasks_quota_share"
        constraints = [
            models.CheckConstraint(
                condition=models.Q(available__gte=0) | models.Q(number=0),
                name="tasks_quota_share_only_first_negative",
            )
        ]

    def __str__(self) -> str:
        return f"{self.scope_id}/{self.number}: {self.available}"


class QueueThrottle(models.Model):
    """The token bucket of a limited queue; its row lock orders the claims."""

    queue = models.OneToOneField(Queue, primary_key=True, on_delete=models.CASCADE)
    tokens = models.FloatField()
    refilled_at = models.DateTimeField()

    class Meta:
        db_table = "tasks_queue_throttle"

    def __str__(self) -> str:
        return f"{self.queue_id}: {self.tokens:.2f}"
