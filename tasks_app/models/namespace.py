"""Namespaces (tenants) and their applications."""

from django.db import models
from django.db.models.functions import Now

from orbit.ids import new_id

DEFAULT_APPLICATION_LIMIT = 1_000_000


class Namespace(models.Model):
    """A tenant; `number` is its tenant_id."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    number = models.BigIntegerField(unique=True)
    name = models.CharField(max_length=200, unique=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "tasks_namespace"

    def __str__(self) -> str:
        return self.name


class Application(models.Model):
    """A group of queues of one owner; disabled, its tokens are refused."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    namespace = models.ForeignKey(Namespace, on_delete=models.PROTECT)
    name = models.CharField(max_length=200)
    is_enabled = models.BooleanField(default=True, db_default=True)
    max_outstanding = models.BigIntegerField(default=DEFAULT_APPLICATION_LIMIT)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "tasks_application"
        constraints = [
            models.UniqueConstraint(
                fields=["namespace", "name"], name="tasks_application_name_unique"
            ),
            models.CheckConstraint(
                condition=models.Q(max_outstanding__gte=0),
                name="tasks_application_max_outstanding_not_negative",
            ),
        ]

    def __str__(self) -> str:
        return self.name
