"""Jobs in the admin: every write goes through its action."""

from collections.abc import Callable, Collection, Iterable
from typing import Any, NamedTuple
from uuid import UUID

from django.contrib import admin, messages
from django.contrib.admin.views.main import ChangeList
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html

from openapi_app.actions.delete_job import delete_job
from openapi_app.actions.disable_job import disable_job
from openapi_app.actions.enable_job import enable_job
from openapi_app.actions.run_job_now import run_job_now
from openapi_app.actions.save_job import save_job
from openapi_app.actions.synchronise_job import synchronise_job
from openapi_app.admin.job_form import TIMING, JobForm
from openapi_app.gateways.celery import send_execution
from openapi_app.models import Job
from openapi_app.queries import ExecutionGlance, latest_executions, sync_reasons
from orbit.errors import Refusal
from orbit.ids import parse_id
from tasks_app.public import signed_in

Act = Callable[[HttpRequest, UUID], str]


def by(request: HttpRequest) -> str:
    """The signed-in person as a job names them."""
    return request.user.get_username()


def _run(request: HttpRequest, job_id: UUID) -> str:
    execution = run_job_now(
        job_id=job_id,
        actor=signed_in(user_number=request.user.pk),
        by=by(request),
        request_id=parse_id(getattr(request, "request_id", "")),
    )
    if execution.can_run_now:
        send_execution(execution.id)
    if execution.task_id is None:
        return f"Skipped, because an earlier one is not done: {execution.id.hex}."
    return f"Started execution {execution.id.hex}."


def _enable(request: HttpRequest, job_id: UUID) -> str:
    return (
        "Enabled." if enable_job(job_id=job_id, by=by(request)) else "It was enabled."
    )


def _disable(request: HttpRequest, job_id: UUID) -> str:
    is_new = disable_job(job_id=job_id, by=by(request))
    return "Disabled; what is under way goes on." if is_new else "It was disabled."


def _synchronise(_request: HttpRequest, job_id: UUID) -> str:
    in_step = synchronise_job(job_id=job_id)
    return "In step with the scheduler." if in_step else "Not in step; see the reason."


# What a button does, and the permission it takes.
ACTS: dict[str, tuple[Act, str]] = {
    "run": (_run, "openapi_app.run_job"),
    "enable": (_enable, "openapi_app.change_job"),
    "disable": (_disable, "openapi_app.change_job"),
    "synchronise": (_synchronise, "openapi_app.change_job"),
}


class KnownJobs(ChangeList):
    """A page of jobs with what is known beside their rows: few statements for all."""

    def get_results(self, request: HttpRequest) -> None:
        """The page, each job with its latest execution and sync state."""
        super().get_results(request)
        look_up(list(self.result_list))


class Beside(NamedTuple):
    """What is known of a job beside its row."""

    latest: ExecutionGlance | None
    reason: str


def look_up(jobs: list[Job]) -> None:
    """Let the jobs know their latest execution and why they are not in step."""
    latest = latest_executions([job.id for job in jobs])
    reasons = sync_reasons(jobs)
    for job in jobs:
        vars(job)["beside"] = Beside(latest.get(job.id), reasons[job.id])


def _known(job: Job) -> Beside:
    if "beside" not in vars(job):
        look_up([job])
    found: Beside = vars(job)["beside"]
    return found


@admin.register(Job)
class JobAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """Jobs that are not deleted."""

    form = JobForm
    change_form_template = "admin/openapi_app/job/change_form.html"
    list_display = (
        "name",
        "group",
        "handler",
        "schedule_type",
        "is_enabled",
        "in_step",
        "next_run_at",
        "last_execution",
    )
    list_filter = ("is_enabled", "schedule_type", "sync_status", "group")
    list_select_related = ("group",)
    search_fields = ("name", "handler", "=id")
    ordering = ("group__name", "name")
    actions = ("run_now", "enable", "disable", "synchronise")
    readonly_fields = (
        "id",
        "in_step",
        "next_run_at",
        "last_execution",
        "created_at",
        "created_by",
        "updated_at",
        "updated_by",
    )
    fieldsets = (
        (None, {"fields": ("group", "name", "description", "id")}),
        ("What runs", {"fields": ("handler", "parameters", "queue_id")}),
        ("When", {"fields": ("is_enabled", *TIMING, "misfire_policy", "next_run_at")}),
        (
            "How",
            {
                "fields": (
                    "concurrency_policy",
                    "recovery_safety",
                    "max_attempts",
                    "initial_delay_ms",
                    "max_delay_ms",
                    "attempt_timeout_ms",
                    "task_timeout_ms",
                )
            },
        ),
        ("How it stands", {"fields": ("in_step", "last_execution")}),
        (
            "Who",
            {"fields": ("created_at", "created_by", "updated_at", "updated_by")},
        ),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Job]:  # noqa: ARG002
        jobs: QuerySet[Job] = Job.objects.live().select_related("group")
        return jobs.order_by(*self.ordering)

    def get_changelist(
        self,
        request: HttpRequest,  # noqa: ARG002
        **kwargs: object,  # noqa: ARG002
    ) -> type[ChangeList]:
        return KnownJobs

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        """Not Django's own deletion, which knows nothing of the scheduler."""
        found: dict[str, Any] = super().get_actions(request)
        found.pop("delete_selected", None)
        return found

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, object] | None = None,
    ) -> HttpResponse:
        """Without Django's own transaction: the action has one."""
        try:
            found: HttpResponse = self._changeform_view(  # type: ignore[attr-defined]
                request, object_id, form_url, extra_context
            )
        except Refusal as refusal:
            # Somebody was quicker than the form's own checks.
            self.message_user(request, refusal.message, messages.ERROR)
            return HttpResponseRedirect(request.get_full_path())
        return found

    def delete_view(
        self,
        request: HttpRequest,
        object_id: str,
        extra_context: dict[str, object] | None = None,
    ) -> HttpResponse:
        """Without Django's own transaction: the action has one."""
        found: HttpResponse = self._delete_view(  # type: ignore[attr-defined]
            request, object_id, extra_context
        )
        return found

    def get_deleted_objects(
        self, objs: Collection[Job], request: HttpRequest
    ) -> tuple[list[str], dict[str, int], set[str], list[str]]:
        """A deleted job takes nothing with it: its executions stay."""
        del request
        return [str(job) for job in objs], {"jobs": len(objs)}, set(), []

    def save_model(
        self,
        request: HttpRequest,
        obj: Job,
        form: JobForm,
        change: bool,  # noqa: FBT001 - Django's signature
    ) -> None:
        """Save by the action, which the scheduler's row follows."""
        if form.draft is None:
            raise ValueError("A form that is not valid cannot be saved.")
        obj.pk = save_job(form.draft, job_id=obj.pk if change else None, by=by(request))

    def delete_model(self, request: HttpRequest, obj: Job) -> None:
        """Delete by the action."""
        delete_job(job_id=obj.pk, by=by(request))

    def get_urls(self) -> list[URLPattern]:
        """One address for each button."""
        buttons = [
            path(
                f"<uuid:job_id>/{name}/",
                self.admin_site.admin_view(self.press),
                {"name": name},
                name=f"openapi_app_job_{name}",
            )
            for name in ACTS
        ]
        return buttons + super().get_urls()

    def press(self, request: HttpRequest, job_id: UUID, name: str) -> HttpResponse:
        """Do what the button says, and go back to the job."""
        if request.method != "POST":
            raise Http404
        self._act(request, name, [job_id])
        return HttpResponseRedirect(
            reverse("admin:openapi_app_job_change", args=[job_id])
        )

    def _act(self, request: HttpRequest, name: str, job_ids: Iterable[UUID]) -> None:
        act, permission = ACTS[name]
        if not request.user.has_perm(permission):
            raise PermissionDenied
        for job_id in job_ids:
            try:
                self.message_user(request, act(request, job_id), messages.SUCCESS)
            except Refusal as refusal:
                self.message_user(request, refusal.message, messages.ERROR)

    def _act_on(self, request: HttpRequest, name: str, jobs: QuerySet[Job]) -> None:
        self._act(request, name, list(jobs.values_list("id", flat=True)))

    @admin.action(description="Run now", permissions=["run"])
    def run_now(self, request: HttpRequest, queryset: QuerySet[Job]) -> None:
        self._act_on(request, "run", queryset)

    @admin.action(description="Enable", permissions=["change"])
    def enable(self, request: HttpRequest, queryset: QuerySet[Job]) -> None:
        self._act_on(request, "enable", queryset)

    @admin.action(description="Disable", permissions=["change"])
    def disable(self, request: HttpRequest, queryset: QuerySet[Job]) -> None:
        self._act_on(request, "disable", queryset)

    @admin.action(description="Synchronise", permissions=["change"])
    def synchronise(self, request: HttpRequest, queryset: QuerySet[Job]) -> None:
        self._act_on(request, "synchronise", queryset)

    def has_run_permission(self, request: HttpRequest) -> bool:
        """Who may press "Run now"."""
        return request.user.has_perm("openapi_app.run_job")

    @admin.display(description="in step with the scheduler")
    def in_step(self, job: Job) -> str:
        """Yes, or why not; looked up at this moment."""
        return _known(job).reason or "yes"

    @admin.display(description="last execution")
    def last_execution(self, job: Job) -> str:
        """State of the newest execution, with the way to it."""
        latest = _known(job).latest
        if latest is None:
            return "none"
        where = reverse("admin:openapi_app_jobexecution_change", args=[latest.id])
        return format_html('<a href="{}">{}</a>', where, latest.state)
