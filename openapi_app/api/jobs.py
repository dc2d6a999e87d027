"""Jobs within a token's range."""

from collections.abc import Mapping
from typing import NamedTuple
from uuid import UUID

from rest_framework.request import Request
from rest_framework.response import Response

from openapi_app import queries
from openapi_app.api import operations
from openapi_app.api.envelope import answer
from openapi_app.api.shapes import job_shape
from openapi_app.api.views import OpenAPIView
from openapi_app.domain.summaries import JobFilter
from orbit.errors import Invalid
from orbit.http.paging import page, read_limit


class JobPosition(NamedTuple):
    """Where a list of jobs goes on."""

    id: UUID


TRUTH = {"true": True, "false": False}


class JobList(OpenAPIView):
    """GET /openapi/v1/jobs."""

    operations = {"GET": operations.LIST_JOBS}
    query_parameters = ("page_size", "cursor", "group", "name", "triggerable")

    def get(self, request: Request) -> Response:
        """The jobs in the range, oldest first."""
        limit = read_limit(self.query, name="page_size")
        cursor = self.cursor("jobs")
        after = self.position(cursor, JobPosition)
        found = queries.jobs_within(
            self.range,
            wanted=_filter(self.query),
            after=after and after.id,
            limit=limit,
        )
        data = page(
            found, limit, lambda job: cursor.sign(JobPosition(job.id)), item=job_shape
        )
        return answer(request, data)


class JobDetail(OpenAPIView):
    """GET /openapi/v1/jobs/{job_id}."""

    operations = {"GET": operations.GET_JOB}

    def get(self, request: Request, job_id: UUID) -> Response:
        """One job; outside the range it is told the same as where there is none."""
        self.require_job(job_id)
        return answer(request, job_shape(queries.job_within(self.range, job_id)))


def _filter(query: Mapping[str, str]) -> JobFilter:
    triggerable = query.get("triggerable")
    if triggerable is not None and triggerable not in TRUTH:
        raise Invalid("`triggerable` must be true or false.", field="triggerable")
    return JobFilter(
        group=query.get("group"),
        name=query.get("name"),
        triggerable=None if triggerable is None else TRUTH[triggerable],
    )
