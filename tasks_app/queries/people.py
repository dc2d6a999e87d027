"""The names of the people whom an audit knows by their number."""

from collections.abc import Iterable
from uuid import UUID

from django.contrib.auth.models import User

MOST_USERS = 2**31 - 1


def user_names(actor_ids: Iterable[UUID]) -> dict[UUID, str]:
    """The usernames of these signed-in actors; whoever was deleted lacks."""
    numbers = [it.int for it in actor_ids if it.int <= MOST_USERS]
    if not numbers:
        return {}
    found = User.objects.filter(pk__in=numbers).values_list("pk", "username")
    return {UUID(int=number): name for number, name in found}
