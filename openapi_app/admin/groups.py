"""Groups of jobs; a token's range names them, so they are never renamed."""

from uuid import UUID

from django import forms
from django.contrib import admin
from django.http import HttpRequest, HttpResponse

from openapi_app.actions.create_group import create_group
from openapi_app.domain.errors import InvalidJob
from openapi_app.domain.job_rules import check_group_name
from openapi_app.models import JobGroup
from tasks_app.public import queue_places


def namespaces() -> list[tuple[str, str]]:
    """The namespaces that have queues, to choose from."""
    found = {place.namespace_id.hex: place.namespace for place in queue_places()}
    return sorted(found.items(), key=lambda choice: choice[1])


class GroupForm(forms.ModelForm):  # type: ignore[type-arg]
    """A new group."""

    namespace_id = forms.TypedChoiceField(
        label="Namespace", choices=namespaces, coerce=UUID
    )

    class Meta:
        model = JobGroup
        fields = ("namespace_id", "name")

    def clean_name(self) -> str:
        """The rules of the action, told at the field."""
        name: str = self.cleaned_data["name"]
        try:
            check_group_name(name)
        except InvalidJob as refusal:
            raise forms.ValidationError(refusal.message) from None
        return name


@admin.register(JobGroup)
class JobGroupAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """Groups are made and looked at."""

    form = GroupForm
    list_display = ("name", "namespace_id", "created_at")
    search_fields = ("name",)

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

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, object] | None = None,
    ) -> HttpResponse:
        """Without Django's own transaction: the action has one."""
        found: HttpResponse = self._changeform_view(  # type: ignore[attr-defined]
            request, object_id, form_url, extra_context
        )
        return found

    def save_model(
        self,
        request: HttpRequest,  # noqa: ARG002
        obj: JobGroup,
        form: GroupForm,
        change: bool,  # noqa: ARG002, FBT001 - Django's signature
    ) -> None:
        """Create it by the action."""
        data = form.cleaned_data
        obj.pk = create_group(namespace_id=data["namespace_id"], name=data["name"])
