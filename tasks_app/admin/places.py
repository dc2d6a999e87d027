"""Namespaces, applications and queues; a queue's limits can be set."""

from dataclasses import asdict
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse

from orbit.read_only_admin import ReadOnlyAdmin
from tasks_app.actions.configure_queue import configure_queue
from tasks_app.domain.limits import QueueLimits
from tasks_app.models import Application, Namespace, Queue

LIMITS = tuple(QueueLimits.__dataclass_fields__)
MOST = 2**31 - 1


class LimitsForm(forms.Form):
    """All limits of a queue; an empty field is no limit."""

    is_paused = forms.BooleanField(
        label="Paused", required=False, help_text="No task starts while this is set."
    )
    max_outstanding = forms.IntegerField(
        label="Most outstanding tasks",
        min_value=0,
        max_value=2**62,
        help_text="Waiting, running and needing review together.",
    )
    max_concurrency = forms.IntegerField(
        label="Most running tasks", min_value=0, max_value=MOST, required=False
    )
    key_concurrency = forms.IntegerField(
        label="Most running tasks of one concurrency key",
        min_value=0,
        max_value=MOST,
        required=False,
    )
    rate_per_second = forms.FloatField(
        label="Starts in a second", min_value=0.001, max_value=1e6, required=False
    )
    lease_ms = forms.IntegerField(
        label="Lease in milliseconds",
        min_value=1_000,
        max_value=300_000,
        help_text="Where a claim names none.",
    )
    reviewer_may_be_submitter = forms.BooleanField(
        label="Who submitted a task may review it",
        required=False,
        help_text="Unset, a review takes somebody else.",
    )
    second_approver = forms.BooleanField(
        label="A review takes two people",
        required=False,
        help_text="One proposes it, another approves it.",
    )
    approval_seconds = forms.IntegerField(
        label="Seconds in which a proposal may be approved",
        min_value=1,
        max_value=2_592_000,
    )


@admin.register(Namespace)
class NamespaceAdmin(ReadOnlyAdmin):
    """Tenants."""

    list_display = ("name", "number", "hex_id", "created_at")
    search_fields = ("id", "name")


@admin.register(Application)
class ApplicationAdmin(ReadOnlyAdmin):
    """Owners of queues."""

    list_display = ("name", "namespace", "is_enabled", "max_outstanding", "hex_id")
    list_select_related = ("namespace",)
    search_fields = ("id", "name")


@admin.register(Queue)
class QueueAdmin(ReadOnlyAdmin):
    """Queues; whoever may change them sets their limits on a page of its own."""

    list_display = (
        "name",
        "application",
        "is_paused",
        "max_outstanding",
        "max_concurrency",
        "key_concurrency",
        "rate_per_second",
        "lease_ms",
        "hex_id",
    )
    list_select_related = ("application",)
    search_fields = ("id", "name")

    def get_urls(self) -> list[URLPattern]:
        """The limits beside the usual pages."""
        limits = path(
            "<uuid:queue_id>/limits/",
            self.admin_site.admin_view(self.set_limits),
            name="tasks_app_queue_limits",
        )
        return [limits, *super().get_urls()]

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        """The queue, with a way to its limits for those who may change them."""
        more = {"may_set_limits": may_set_limits(request), **(extra_context or {})}
        return super().change_view(request, object_id, form_url, more)

    # Outside the admin's own change view: that would hold a transaction around the act.
    def set_limits(self, request: HttpRequest, queue_id: UUID) -> HttpResponse:
        """The form, and what it does."""
        if not may_set_limits(request):
            raise PermissionDenied
        queue = Queue.objects.filter(id=queue_id).first()
        if queue is None:
            raise Http404
        form = LimitsForm(
            request.POST or None,
            initial={name: getattr(queue, name) for name in LIMITS},
        )
        if request.method == "POST" and form.is_valid():
            return self._set(request, queue, QueueLimits(**form.cleaned_data))
        context = {
            **self.admin_site.each_context(request),
            "title": f"Limits of {queue.name}",
            "opts": Queue._meta,  # noqa: SLF001
            "queue": queue,
            "form": form,
        }
        return TemplateResponse(request, "admin/tasks_app/queue/limits.html", context)

    def _set(
        self, request: HttpRequest, queue: Queue, limits: QueueLimits
    ) -> HttpResponse:
        changed = [
            name
            for name, value in asdict(limits).items()
            if value != getattr(queue, name)
        ]
        configure_queue(queue_id=queue.id, limits=limits)
        self.log_change(request, queue, [{"changed": {"fields": changed}}])
        self.message_user(
            request, f"The limits of {queue.name} are set.", messages.SUCCESS
        )
        return HttpResponseRedirect(
            reverse("admin:tasks_app_queue_change", args=[queue.id])
        )


def may_set_limits(request: HttpRequest) -> bool:
    """Whether the person may change queues."""
    return request.user.has_perm("tasks_app.change_queue")
