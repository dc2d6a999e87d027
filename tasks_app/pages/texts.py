"""JSON exactly as it is stored: the beginning in a page, the whole on demand."""

from dataclasses import dataclass
from uuid import UUID

import msgspec
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from tasks_app.domain.access import Reach
from tasks_app.models.record import TaskRecord
from tasks_app.pages.views import VIEW, ConsolePage
from tasks_app.queries import attempts_of, task_within

SHOWN = 4_096  # characters
# A browser that reads a page turns CR into LF, but not one that is written like this.
CARRIAGE_RETURN = SafeString("&#13;")


@dataclass(frozen=True, slots=True, kw_only=True)
class Excerpt:
    """A stored text as a page shows it; `url` answers the whole."""

    name: str
    text: str
    url: str

    @property
    def is_whole(self) -> bool:
        """Whether the page shows all of it."""
        return len(self.text) <= SHOWN

    @property
    def shown(self) -> SafeString:
        """Its beginning, escaped so that a browser reads every character of it."""
        parts = self.text[:SHOWN].split("\r")
        return format_html_join(CARRIAGE_RETURN, "{}", ((part,) for part in parts))

    @property
    def octets(self) -> int:
        """How long the whole is, in bytes."""
        return len(self.text.encode())

    @property
    def size(self) -> str:
        """The same with its digits in groups."""
        return f"{self.octets:,}"

    @property
    def laid_out(self) -> str:
        """The same digits over several lines; nothing where that shows no more."""
        if not self.is_whole or "\n" in self.text:
            return ""
        laid_out = msgspec.json.format(self.text.encode(), indent=2).decode()
        return laid_out if "\n" in laid_out else ""


def payload_excerpt(task: TaskRecord) -> Excerpt:
    """What the task was given."""
    url = reverse("recovery:payload", args=[task.id])
    return Excerpt(name="payload", text=task.payload, url=url)


def result_excerpt(task: TaskRecord) -> Excerpt | None:
    """What it ended with, or None."""
    if task.result is None:
        return None
    url = reverse("recovery:result", args=[task.id])
    return Excerpt(name="result", text=task.result, url=url)


class StoredText(ConsolePage):
    """The whole text and nothing else."""

    permissions = (VIEW,)

    def find(self, reach: Reach, task_id: UUID, **more: UUID) -> str | None:
        """The text, or None where there is none."""
        raise NotImplementedError

    def get(self, request: HttpRequest, task_id: UUID, **more: UUID) -> HttpResponse:  # noqa: ARG002
        """Byte for byte as it is stored."""
        text = self.find(self.reach_of(task_id), task_id, **more)
        if text is None:
            raise Http404
        return HttpResponse(text.encode(), content_type="text/plain; charset=utf-8")


class PayloadText(StoredText):
    """/admin/recovery/tasks/{task_id}/payload."""

    def find(self, reach: Reach, task_id: UUID, **_more: UUID) -> str | None:
        """What the task was given."""
        return task_within(reach, task_id).payload


class ResultText(StoredText):
    """/admin/recovery/tasks/{task_id}/result."""

    def find(self, reach: Reach, task_id: UUID, **_more: UUID) -> str | None:
        """What it ended with."""
        return task_within(reach, task_id).result


class EvidenceText(StoredText):
    """/admin/recovery/tasks/{task_id}/evidence/{evidence_id}."""

    def find(self, reach: Reach, task_id: UUID, **more: UUID) -> str | None:
        """What a late report said."""
        wanted = more["evidence_id"]
        found = attempts_of(reach, task_id).evidence
        return next((it.content for it in found if it.id == wanted), None)
