"""What a token of the open job API reaches, told at the token workbench's door."""

from collections.abc import Iterable
from uuid import UUID

from django.contrib.auth import get_user_model
from django.contrib.auth.models import AbstractBaseUser, PermissionsMixin

from openapi_app.domain.summaries import JobRange
from openapi_app.models.reach import (
    groups_named,
    jobs_in,
    jobs_named_like,
    jobs_with_ids,
    members_of,
)
from openapi_app.queries import executions_started_by
from tokens_app.public import (
    Audience,
    RangeCatalogue,
    RangeMember,
    TokenExecution,
    TokenRange,
)

# Whoever hands a job on must be allowed to run it, and to see what its holder sees.
RUN, VIEW = "openapi_app.run_job", "openapi_app.view_job"
READING = {"jobs:read", "executions:read"}


def jobs_of(granted: TokenRange) -> list[RangeMember]:
    """The jobs that the range reaches at this moment, by group and name."""
    within = JobRange(
        namespace_id=granted.namespace_id,
        job_ids=granted.job_ids,
        group_names=granted.job_groups,
    )
    return _jobs(members_of(within))


def choices_in(namespace_id: UUID) -> list[RangeMember]:
    """The groups of the namespace, then its jobs."""
    groups = [
        RangeMember(kind="group", id=group_id, name=name)
        for group_id, name in groups_named(namespace_id)
    ]
    return groups + _jobs(jobs_in(namespace_id))


def find(text: str) -> list[RangeMember]:
    """Jobs of any namespace whose name contains the text, up to 200."""
    return _jobs(jobs_named_like(text, limit=200))


def may_grant(
    *, user_id: int, scopes: frozenset[str], wanted: TokenRange
) -> TokenRange:
    """What exists of the range and the user may run, and see if the scopes read."""
    user = get_user_model().objects.filter(pk=user_id).first()
    needed = [RUN, VIEW] if scopes & READING else [RUN]
    if user is None or not _has_all(user, needed):
        return TokenRange(namespace_id=wanted.namespace_id)
    jobs = set(jobs_with_ids(wanted.namespace_id, wanted.job_ids))
    groups = {name for _, name in groups_named(wanted.namespace_id)}
    return TokenRange(
        namespace_id=wanted.namespace_id,
        job_ids=tuple(it for it in wanted.job_ids if it in jobs),
        job_groups=tuple(name for name in wanted.job_groups if name in groups),
    )


def executions_of_token(token_id: UUID, limit: int) -> list[TokenExecution]:
    """The newest executions that the token started."""
    return [
        TokenExecution(
            id=it.id,
            job_id=it.job_id,
            job_name=it.job_name,
            group=it.group,
            state=it.state,
            accepted_at=it.accepted_at,
        )
        for it in executions_started_by(token_id, limit=limit)
    ]


def _jobs(found: Iterable[tuple[UUID, str, str]]) -> list[RangeMember]:
    return [
        RangeMember(kind="job", id=job_id, name=name, group=group)
        for job_id, name, group in found
    ]


def _has_all(user: AbstractBaseUser, needed: list[str]) -> bool:
    return isinstance(user, PermissionsMixin) and user.has_perms(needed)


CATALOGUE = RangeCatalogue(
    audience=Audience.OPEN_JOBS,
    members=jobs_of,
    choices=choices_in,
    find=find,
    may_grant=may_grant,
    executions=executions_of_token,
)
