"""The ground of the console's pages: permissions, actor, reach and navigation."""

from typing import NamedTuple
from uuid import UUID

from django.http import HttpResponse
from django.utils.translation import gettext_lazy as _

from orbit.errors import Refusal
from orbit.forms import TypedForm
from orbit.http.staff_page import StaffPage
from orbit.words import Word
from tasks_app.domain.access import Actor, Reach, signed_in
from tasks_app.pages import words
from tasks_app.queries.inbox import namespace_of

VIEW = "tasks_app.view_task"
VIEW_AUDIT = "tasks_app.view_operationaudit"
REVIEW = "tasks_app.review_task"
RETRY = "tasks_app.retry_task"


class Tab(NamedTuple):
    """An entry of the console's navigation: the name of its address, and its word."""

    url_name: str
    told: Word


TABS: tuple[Tab, ...] = (
    Tab("recovery:inbox", _("Inbox")),
    Tab("recovery:batches", _("Batches")),
    Tab("recovery:contradictions", _("Contradictions")),
    Tab("recovery:overview", _("Overview")),
)


class ConsolePage(StaffPage):
    """Asks for every one of `permissions`: whoever decides must see what about."""

    section = "recovery"
    tab = "recovery:inbox"

    @property
    def is_allowed(self) -> bool:
        """Whether the user is staff with all of the permissions."""
        return self.user.is_staff and self.user.has_perms(self.permissions)

    @property
    def actor(self) -> Actor:
        """The user as the engine's audit names them."""
        return signed_in(user_number=self.user.pk)

    @staticmethod
    def reach_of(task_id: UUID) -> Reach:
        """Every queue of the task's namespace; raises TaskNotFound."""
        return Reach(namespace_id=namespace_of(task_id), queue_ids=None)

    def page(self, *, status: int = 200, **context: object) -> HttpResponse:
        """The page's template with this context."""
        return super().page(status=status, tabs=TABS, tab=self.tab, **context)


def add_refusal(form: TypedForm, refusal: Refusal) -> None:
    """Put the refusal beside its field, in the visitor's language.

    A refusal that is nobody's field stands at the head of the form: also one that wants
    another person, for what was typed must stay.
    """
    field = words.FORM_FIELDS.get(refusal.field or "", refusal.field)
    form.add_error(
        field if field in form.fields else None, words.refusal_in_words(refusal)
    )
