"""What a token of /v1 reaches, told at the token workbench's door."""

from collections.abc import Iterable
from uuid import UUID

from django.contrib.auth import get_user_model
from django.contrib.auth.models import PermissionsMixin

from tasks_app.queries import (
    QueuePlace,
    application_places,
    namespace_places,
    queue_places,
)
from tokens_app.public import (
    Audience,
    Place,
    RangeCatalogue,
    RangeMember,
    TokenRange,
)

# A token without an application belongs to the namespace itself.
APPLICATION_ENABLED = """
SELECT CASE WHEN t.application_id IS NULL THEN true ELSE coalesce((
    SELECT a.is_enabled FROM tasks_application a WHERE a.id = t.application_id
), false) END
"""
# Nobody hands on what they could not do themselves.
NEEDED = {"tasks_app.view_queue", "tasks_app.view_task"}
NEEDED_BY_SCOPE = {
    "tasks:review": "tasks_app.review_task",
    "tasks:retry": "tasks_app.retry_task",
    "tasks:audit:read": "tasks_app.view_operationaudit",
}
FOUND_AT_MOST = 200


def queues_of(granted: TokenRange) -> list[RangeMember]:
    """The queues of the range that there are."""
    wanted = set(granted.queue_ids)
    queues = queue_places(namespace_id=granted.namespace_id)
    return _members(it for it in queues if it.id in wanted)


def choices_in(namespace_id: UUID) -> list[RangeMember]:
    """The queues of the namespace."""
    return _members(queue_places(namespace_id=namespace_id))


def find(text: str) -> list[RangeMember]:
    """Queues of any namespace whose name contains the text."""
    wanted = text.casefold()
    found = [it for it in queue_places() if wanted in it.name.casefold()]
    return _members(found[:FOUND_AT_MOST])


def may_grant(
    *, user_id: int, scopes: frozenset[str], wanted: TokenRange
) -> TokenRange:
    """The queues of the range that exist, if the user may do what the scopes allow."""
    nothing = TokenRange(namespace_id=wanted.namespace_id)
    user = get_user_model().objects.filter(pk=user_id).first()
    needed = NEEDED | {NEEDED_BY_SCOPE[it] for it in scopes if it in NEEDED_BY_SCOPE}
    if not isinstance(user, PermissionsMixin) or not user.has_perms(needed):
        return nothing
    known = {it.id for it in queue_places(namespace_id=wanted.namespace_id)}
    return TokenRange(
        namespace_id=wanted.namespace_id,
        queue_ids=tuple(it for it in wanted.queue_ids if it in known),
    )


def namespaces() -> list[Place]:
    """Every namespace, by name."""
    return [
        Place(id=namespace_id, name=name, namespace_id=namespace_id)
        for namespace_id, name in namespace_places()
    ]


def applications() -> list[Place]:
    """Every application, by name."""
    return [
        Place(id=application_id, name=name, namespace_id=namespace_id)
        for application_id, name, namespace_id in application_places()
    ]


def _members(queues: Iterable[QueuePlace]) -> list[RangeMember]:
    return [
        RangeMember(kind="queue", id=it.id, name=it.name, group=it.application)
        for it in queues
    ]


CATALOGUE = RangeCatalogue(
    audience=Audience.TASKS,
    application_enabled_sql=APPLICATION_ENABLED,
    members=queues_of,
    choices=choices_in,
    find=find,
    may_grant=may_grant,
    namespaces=namespaces,
    applications=applications,
)
