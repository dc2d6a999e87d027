"""The form of a job: the rules of the action, told at the fields."""

from collections.abc import Iterable
from dataclasses import fields
from typing import Any
from uuid import UUID
from zoneinfo import available_timezones

from django import forms

from openapi_app.domain.errors import InvalidJob, JobNameTaken
from openapi_app.domain.handlers import registered_handlers
from openapi_app.domain.job_rules import (
    RECOVERY_SAFETIES,
    JobDraft,
    check_draft,
    check_timing,
)
from openapi_app.domain.words import ConcurrencyPolicy, MisfirePolicy, ScheduleType
from openapi_app.models import Job
from orbit import clock
from tasks_app.public import queue_places

TIMING = ("schedule_type", "cron", "interval_seconds", "once_at", "timezone")


def _words(words: Iterable[object]) -> list[tuple[str, str]]:
    return [(str(word), str(word)) for word in words]


def _handlers() -> list[tuple[str, str]]:
    return _words(handler.name for handler in registered_handlers())


def _queues() -> list[tuple[str, str]]:
    return [
        (place.id.hex, f"{place.namespace} / {place.application} / {place.name}")
        for place in queue_places()
    ]


def _zones() -> list[tuple[str, str]]:
    return _words(sorted(available_timezones()))


class JobForm(forms.ModelForm):  # type: ignore[type-arg]
    """A job to be saved; `draft` is what was entered once it is valid."""

    handler = forms.ChoiceField(choices=_handlers)
    queue_id = forms.TypedChoiceField(label="Queue", choices=_queues, coerce=UUID)
    timezone = forms.ChoiceField(choices=_zones, initial="UTC")
    schedule_type = forms.ChoiceField(choices=_words(ScheduleType), initial="NONE")
    concurrency_policy = forms.ChoiceField(choices=_words(ConcurrencyPolicy))
    misfire_policy = forms.ChoiceField(choices=_words(MisfirePolicy))
    recovery_safety = forms.ChoiceField(choices=_words(RECOVERY_SAFETIES))
    # The text is kept as it is typed: no digit may change on its way.
    parameters = forms.CharField(
        strip=False,
        initial="{}",
        widget=forms.Textarea(attrs={"rows": 8, "class": "vLargeTextField"}),
        help_text="A JSON object in the shape that the handler declares; {} for none.",
    )

    class Meta:
        model = Job
        fields = (
            "group",
            "name",
            "description",
            "handler",
            "parameters",
            "queue_id",
            "is_enabled",
            *TIMING,
            "misfire_policy",
            "concurrency_policy",
            "recovery_safety",
            "max_attempts",
            "initial_delay_ms",
            "max_delay_ms",
            "attempt_timeout_ms",
            "task_timeout_ms",
        )
        help_texts = {
            "cron": "minute, hour, day of month, month, day of week; for CRON",
            "interval_seconds": "for INTERVAL",
            "once_at": "in UTC; for ONCE",
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - Django's
        super().__init__(*args, **kwargs)
        self.draft: JobDraft | None = None
        job = self.instance
        self.was = {field: getattr(job, field) for field in (*TIMING, "is_enabled")}
        if job.queue_id is not None:
            self.initial["queue_id"] = job.queue_id.hex
        known = {name for name, _ in _handlers()}
        if job.handler and job.handler not in known:
            # A job of a handler that is gone can still be looked at and changed.
            self.fields["handler"].choices = [  # type: ignore[attr-defined]
                *_handlers(),
                (job.handler, f"{job.handler} (not registered)"),
            ]

    def clean_parameters(self) -> str:
        """The text with the line ends that were typed, not the browser's."""
        text: str = self.cleaned_data["parameters"]
        return text.replace("\r\n", "\n")

    def clean(self) -> dict[str, Any] | None:
        """Hold the whole to the rules of jobs; each refusal goes to its field."""
        data = super().clean()
        if self.errors or data is None:
            return data
        draft = self._draft(data)
        try:
            check_draft(draft)
            if self._starts_afresh(draft):
                check_timing(draft, now=clock.now())
            self._check_place(draft)
        except InvalidJob as refusal:
            self.add_error(refusal.field, refusal.message)
        else:
            self.draft = draft
        return data

    def _draft(self, data: dict[str, Any]) -> JobDraft:
        group = data["group"]
        entered = {
            field.name: data[field.name]
            for field in fields(JobDraft)
            if field.name in data
        }
        return JobDraft(namespace_id=group.namespace_id, group_id=group.id, **entered)

    def _starts_afresh(self, draft: JobDraft) -> bool:
        if self.instance._state.adding or draft.is_enabled > self.was["is_enabled"]:  # noqa: SLF001
            return True
        return any(getattr(draft, field) != self.was[field] for field in TIMING)

    def _check_place(self, draft: JobDraft) -> None:
        places = {place.id: place.namespace_id for place in queue_places()}
        if places.get(draft.queue_id) != draft.namespace_id:
            raise InvalidJob("queue_id", "Choose a queue of the group's namespace.")
        namesakes = Job.objects.live().filter(group_id=draft.group_id, name=draft.name)
        if namesakes.exclude(pk=self.instance.pk).exists():
            raise JobNameTaken
