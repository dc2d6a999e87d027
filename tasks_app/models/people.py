"""Signed-in people as the engine knows them."""

from uuid import UUID

from django.contrib.auth import get_user_model

from tasks_app.domain.access import Actor, ActorKind

REVIEW = "tasks_app.review_task"


def user_number(actor_id: UUID) -> int:
    """The primary key of the user that this id stands for."""
    return actor_id.int


def may_review(actor: Actor) -> bool:
    """Whether this person is active staff and may review, at this moment."""
    if actor.kind is not ActorKind.USER:
        return False
    user = get_user_model().objects.filter(pk=user_number(actor.id)).first()
    return user is not None and user.is_staff and user.has_perm(REVIEW)
