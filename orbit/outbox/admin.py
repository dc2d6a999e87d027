"""Result events in the admin, to look at only."""

from django.contrib import admin
from django.utils.safestring import SafeString

from orbit.outbox.models import ResultEvent
from orbit.read_only_admin import LISTED, ReadOnlyAdmin, link, stored_text


@admin.register(ResultEvent)
class ResultEventAdmin(ReadOnlyAdmin):
    """What subscribers read; frozen once written."""

    list_display = ("id", "kind", "of_task", "revision", "created_at")
    search_fields = ("id", "task_id")
    search_help_text = f"The id of an event or a task. The newest {LISTED:,} rows."
    kept_back = ("payload",)
    exclude = ("task_id",)
    readonly_fields = ("id", "of_task", "payload_as_stored")

    @admin.display(description="task")
    def of_task(self, event: ResultEvent) -> SafeString | str:
        """The task that it tells of."""
        return link("tasks_app_task", event.task_id)

    @admin.display(description="payload")
    def payload_as_stored(self, event: ResultEvent) -> SafeString | str:
        """The event's own text."""
        return stored_text(event, "payload")
