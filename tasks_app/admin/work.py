"""Tasks, their attempts, and the limits that attempts hold."""

from typing import Any

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from orbit.read_only_admin import (
    LISTED,
    ReadOnlyAdmin,
    link,
    link_to_found,
    stored_text,
)
from tasks_app.admin.filters import (
    OutcomeFilter,
    PermitFilter,
    QueueFilter,
    StateFilter,
)
from tasks_app.models import Attempt, Namespace, Permit, Task

TRAIL = (
    ("tasks_app_attempt", "attempts"),
    ("tasks_app_evidence", "late evidence"),
    ("tasks_app_operationaudit", "operations"),
    ("outbox_resultevent", "result events"),
    ("tasks_app_permit", "permits held"),
)


class AttemptInline(admin.TabularInline):  # type: ignore[type-arg]
    """The attempts of a task, in order."""

    model = Attempt
    ordering = ("number",)
    extra = 0
    can_delete = False
    show_change_link = True
    fields = (
        "number",
        "outcome",
        "worker_name",
        "started_at",
        "heartbeat_at",
        "lease_expires_at",
        "ended_at",
        "error_code",
    )
    readonly_fields = fields

    def get_queryset(self, request: HttpRequest) -> QuerySet[Attempt]:
        """Without the digests."""
        return super().get_queryset(request).defer(*AttemptAdmin.kept_back)

    def has_add_permission(
        self,
        request: HttpRequest,  # noqa: ARG002
        obj: object = None,  # noqa: ARG002
    ) -> bool:
        return False

    def has_change_permission(
        self,
        request: HttpRequest,  # noqa: ARG002
        obj: object = None,  # noqa: ARG002
    ) -> bool:
        return False


@admin.register(Task)
class TaskAdmin(ReadOnlyAdmin):
    """Tasks; acts on them are calls of the API."""

    list_display = (
        "hex_id",
        "state",
        "queue",
        "handler",
        "business_key",
        "revision",
        "attempt_count",
        "created_at",
        "completed_at",
    )
    list_filter = (StateFilter, QueueFilter)
    list_select_related = ("queue",)
    search_fields = ("id", "retry_of")
    search_help_text = (
        f"A task's id, or a business key, exactly. The newest {LISTED:,} are listed."
    )
    kept_back = ("payload", "result")
    inlines = (AttemptInline,)
    fieldsets = (
        (
            None,
            {
                "fields": (
                    "hex_id",
                    ("state", "revision", "effect_uncertain"),
                    ("namespace", "application", "queue"),
                    ("handler", "handler_version", "payload_version"),
                    ("business_key", "concurrency_key", "priority"),
                    "trail",
                )
            },
        ),
        ("Payload and result", {"fields": ("payload_as_stored", "result_as_stored")}),
        ("Failure", {"fields": ("error_code", "error_message")}),
        (
            "Recovery",
            {
                "fields": (
                    ("recovery_safety", "last_outcome"),
                    ("attempt_count", "max_attempts"),
                    ("initial_delay_ms", "max_delay_ms", "attempt_timeout_ms"),
                    ("owner_kind", "owner_id", "is_gated"),
                    ("retried_task", "successor"),
                )
            },
        ),
        (
            "Time",
            {
                "fields": (
                    ("created_at", "updated_at", "completed_at"),
                    ("available_at", "due_at", "is_due"),
                    ("start_deadline_at", "deadline_at", "cancel_requested_at"),
                    ("lease_attempt_id", "lease_seq", "submitted_by"),
                )
            },
        ),
    )
    readonly_fields = (
        "hex_id",
        "trail",
        "payload_as_stored",
        "result_as_stored",
        "retried_task",
        "successor",
    )

    def named(self, term: str) -> Q:
        """An id, or a business key in whichever namespace has it."""
        namespaces = list(Namespace.objects.values_list("id", flat=True))
        return super().named(term) | Q(namespace__in=namespaces, business_key=term)

    @admin.display(description="payload")
    def payload_as_stored(self, task: Task) -> SafeString | str:
        """The payload's own text."""
        return stored_text(task, "payload")

    @admin.display(description="result")
    def result_as_stored(self, task: Task) -> SafeString | str:
        """The result's own text."""
        return stored_text(task, "result")

    @admin.display(description="what belongs to it")
    def trail(self, task: Task) -> SafeString:
        """Where to read on."""
        return format_html_join(
            " · ",
            "{}",
            ((link_to_found(page, task.id, words),) for page, words in TRAIL),
        )

    @admin.display(description="retry of")
    def retried_task(self, task: Task) -> SafeString | str:
        """The task that this one runs again."""
        return link("tasks_app_task", task.retry_of)

    @admin.display(description="retried as")
    def successor(self, task: Task) -> SafeString | str:
        """The task that runs this one again."""
        found: Any = Task.objects.filter(
            namespace_id=task.namespace_id, retry_of=task.id
        ).values_list("id", flat=True)
        return link("tasks_app_task", found.first())


@admin.register(Attempt)
class AttemptAdmin(ReadOnlyAdmin):
    """Executions; of a lease token not even the hash is shown."""

    list_display = (
        "hex_id",
        "of_task",
        "number",
        "outcome",
        "worker_name",
        "started_at",
        "heartbeat_at",
        "lease_expires_at",
        "ended_at",
        "error_code",
    )
    list_filter = (OutcomeFilter, QueueFilter)
    search_fields = ("id", "task")
    search_help_text = f"The id of an attempt or a task. The newest {LISTED:,} rows."
    kept_back = ("lease_token_hash", "report_digest")
    exclude = ("task",)
    readonly_fields = ("hex_id", "of_task", "late_evidence")

    @admin.display(description="task")
    def of_task(self, attempt: Attempt) -> SafeString | str:
        """The task that it executes."""
        return link("tasks_app_task", attempt.task_id)

    @admin.display(description="late evidence")
    def late_evidence(self, attempt: Attempt) -> SafeString:
        """What arrived after its lease ended."""
        return link_to_found("tasks_app_evidence", attempt.id, "late evidence")


@admin.register(Permit)
class PermitAdmin(ReadOnlyAdmin):
    """Who occupies which limit."""

    list_display = (
        "id",
        "kind",
        "concurrency_key",
        "queue_id",
        "of_task",
        "of_attempt",
        "acquired_at",
    )
    list_filter = (PermitFilter, QueueFilter)
    search_fields = ("task_id", "attempt")
    search_help_text = f"The id of a task or an attempt. The newest {LISTED:,} rows."
    exclude = ("task_id", "attempt")
    readonly_fields = ("of_task", "of_attempt")

    @admin.display(description="task")
    def of_task(self, permit: Permit) -> SafeString | str:
        """The task that holds it."""
        return link("tasks_app_task", permit.task_id)

    @admin.display(description="attempt")
    def of_attempt(self, permit: Permit) -> SafeString | str:
        """The attempt that holds it."""
        return link("tasks_app_attempt", permit.attempt_id)
