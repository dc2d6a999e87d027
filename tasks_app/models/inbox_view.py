"""A narrowing of the inbox that somebody comes back to."""

from django.conf import settings
from django.db import models

from orbit.ids import new_id


class InboxView(models.Model):
    """A person's own name for a queue, a handler and a cause; empty is any."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, db_index=False
    )
    name = models.CharField(max_length=60)
    queue_id = models.UUIDField(null=True)
    handler = models.CharField(max_length=200, default="", blank=True)
    cause = models.CharField(max_length=20, default="", blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "tasks_inbox_view"
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(
                fields=["owner", "name"], name="tasks_inbox_view_name_unique"
            ),
        ]

    def __str__(self) -> str:
        return self.name
