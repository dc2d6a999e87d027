"""Executions in the admin, to look at only; their state is their task's."""

from django.contrib import admin
from django.contrib.admin.views.main import ChangeList
from django.db.models import QuerySet
from django.http import HttpRequest

from openapi_app.models import JobExecution
from openapi_app.queries import states_of


class StatedExecutions(ChangeList):
    """A page of executions that know their states: one statement for all."""

    def get_results(self, request: HttpRequest) -> None:
        """The page, each row with its state."""
        super().get_results(request)
        states = states_of(list(self.result_list))
        for execution in self.result_list:
            vars(execution)["shown_state"] = states[execution.id]


@admin.register(JobExecution)
class JobExecutionAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """Executions, newest first, never their parameters or results."""

    list_display = (
        "id",
        "job",
        "state",
        "source",
        "started_by_whom",
        "scheduled_for",
        "accepted_at",
        "is_waiting_turn",
    )
    list_filter = ("source", "is_settled", "is_waiting_turn")
    list_select_related = ("job",)
    search_fields = ("=id", "=task_id", "=job__id", "job__name")
    ordering = ("-accepted_at", "-id")
    show_full_result_count = False
    fields = (
        "id",
        "job",
        "state",
        "source",
        "started_by_whom",
        "token_id",
        "scheduled_for",
        "accepted_at",
        "is_waiting_turn",
        "task_id",
        "request_id",
    )
    readonly_fields = fields

    def has_add_permission(self, request: HttpRequest) -> bool:  # noqa: ARG002
        return False

    def has_change_permission(
        self,
        request: HttpRequest,  # noqa: ARG002
        obj: object = None,  # noqa: ARG002
    ) -> bool:
        return False

    def has_delete_permission(
        self,
        request: HttpRequest,  # noqa: ARG002
        obj: object = None,  # noqa: ARG002
    ) -> bool:
        return False

    def get_changelist(
        self,
        request: HttpRequest,  # noqa: ARG002
        **kwargs: object,  # noqa: ARG002
    ) -> type[ChangeList]:
        return StatedExecutions

    def get_queryset(self, request: HttpRequest) -> QuerySet[JobExecution]:
        return super().get_queryset(request).select_related("job")

    @admin.display(description="state")
    def state(self, execution: JobExecution) -> str:
        """As the open API calls it."""
        shown = vars(execution).get("shown_state")
        return str(shown or states_of([execution])[execution.id])

    @admin.display(description="started by")
    def started_by_whom(self, execution: JobExecution) -> str:
        """A person, a token's key id, or the schedule."""
        return execution.started_by or execution.key_id or "schedule"
