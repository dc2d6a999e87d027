"""Signed-in people as the engine knows them."""

from uuid import UUID

from tasks_app.domain.access import Actor, ActorKind
from tasks_app.models.statements.people import MAY
from tasks_app.models.statements.run import rows

APP, REVIEW = "tasks_app", "review_task"


def user_number(actor_id: UUID) -> int:
    """The primary key of the user that this id stands for."""
    return actor_id.int


def may_review(actor: Actor) -> bool:
    """Whether this person is active staff and may review, at this moment."""
    if actor.kind is not ActorKind.USER:
        return False
    asked = {"user": user_number(actor.id), "app": APP, "codename": REVIEW}
    answer: bool = rows(MAY, asked)[0][0]
    return answer
