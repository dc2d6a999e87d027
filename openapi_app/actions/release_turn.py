"""Let a serial job go on whose next execution was passed over."""

from uuid import UUID

from django.db import transaction

from openapi_app.models.turns import open_turns, take_turn


def release_turn(*, job_id: UUID) -> list[UUID]:
    """The execution let through, if there was one waiting behind nothing.

    That happens when its task was being looked at while the one before it settled.
    """
    with transaction.atomic(durable=True):
        take_turn(job_id)
        return open_turns([job_id])
