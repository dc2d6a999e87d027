"""Keep a narrowing of the inbox under a name, or forget it."""

from uuid import UUID

from django.db import transaction

from tasks_app.domain.errors import InvalidField
from tasks_app.models import InboxView

MOST_VIEWS = 20
MAX_NAME = 60


def keep_inbox_view(
    *, owner_id: int, name: str, queue_id: UUID | None, handler: str, cause: str
) -> InboxView:
    """The view under this name, which replaces an older one of the same person.

    Raises InvalidField for a name that is empty or too long, for one view too many, and
    for a view that narrows nothing.
    """
    name = " ".join(name.split())
    if not name:
        raise InvalidField("name", "Give the view a name.")
    if len(name) > MAX_NAME:
        raise InvalidField("name", "This name is too long for a view.")
    if not (queue_id or handler or cause):
        raise InvalidField("name", "Filter the list first: this view would be all.")
    with transaction.atomic():
        others = InboxView.objects.filter(owner_id=owner_id).exclude(name=name)
        if others.count() >= MOST_VIEWS:
            raise InvalidField(
                "name", "You keep as many views as there may be: forget one first."
            )
        view, _ = InboxView.objects.update_or_create(
            owner_id=owner_id,
            name=name,
            defaults={"queue_id": queue_id, "handler": handler, "cause": cause},
        )
    return view


def forget_inbox_view(*, owner_id: int, view_id: UUID) -> None:
    """The view is gone; somebody else's, or one that is gone already, is left alone."""
    InboxView.objects.filter(owner_id=owner_id, id=view_id).delete()
