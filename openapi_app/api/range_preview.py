"""What a token of the open job API reaches, told at the token workbench's door."""

from openapi_app.domain.summaries import JobRange
from openapi_app.models.reach import members_of
from tokens_app.public import Audience, RangeCatalogue, RangeMember, TokenRange


def jobs_of(granted: TokenRange) -> list[RangeMember]:
    """The jobs that the range reaches at this moment, by group and name."""
    within = JobRange(
        namespace_id=granted.namespace_id,
        job_ids=granted.job_ids,
        group_names=granted.job_groups,
    )
    return [
        RangeMember(kind="job", id=job_id, name=name, group=group)
        for job_id, name, group in members_of(within)
    ]


CATALOGUE = RangeCatalogue(audience=Audience.OPEN_JOBS, members=jobs_of)
