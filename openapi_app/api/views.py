"""The ground of every view of the open job API: token, scope, quota and range."""

import time
from collections.abc import Mapping
from typing import ClassVar, TypeVar, cast
from uuid import UUID

import structlog
from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from openapi_app.api.authentication import OpenJobAuthentication
from openapi_app.api.described import Described, Operation
from openapi_app.domain.errors import JobNotFound
from openapi_app.domain.refusals import (
    InsufficientScope,
    RateLimited,
    ResourceNotPermitted,
)
from openapi_app.domain.summaries import JobRange
from openapi_app.gateways.rate_limit import WINDOW_MS, Bucket, Quota, take_if_possible
from openapi_app.models.reach import is_within
from orbit.http.paging import Cursor, read_query
from tokens_app.public import Principal, note_call

Position = TypeVar("Position")

# A refusal that must not tell whether a thing exists has no header that varies.
WITHOUT_QUOTA = {401, 403, 404}


class OpenAPIView(APIView):
    """Checks the token, then the scope; a read then counts, and its query is read."""

    authentication_classes = [OpenJobAuthentication]
    permission_classes = ()
    # HEAD and OPTIONS are 405 like every other method a path does not have.
    http_method_names = ["get", "post"]
    schema = Described()
    operations: ClassVar[Mapping[str, Operation]]
    query_parameters: ClassVar[tuple[str, ...]] = ()
    quota: Quota | None = None
    caller: Principal | None = None

    def dispatch(
        self, request: HttpRequest, *args: object, **kwargs: object
    ) -> HttpResponseBase:
        """The answer; an authenticated call is noted in its token's log."""
        started_ns = time.perf_counter_ns()
        response = super().dispatch(request, *args, **kwargs)
        if self.caller is not None and isinstance(response, Response):
            note_call(
                self.caller,
                request=request,
                started_ns=started_ns,
                status=response.status_code,
                result=str((response.data or {}).get("message", "")),
                is_replay=response.headers.get("Idempotency-Replayed") == "true",
            )
        return response

    def initial(self, request: Request, *args: object, **kwargs: object) -> None:
        """Refuse whom the token, its scopes or the quota disqualify."""
        super().initial(request, *args, **kwargs)
        self.caller = self.principal
        structlog.contextvars.bind_contextvars(
            key_id=self.principal.key_id,
            **{name: it.hex for name, it in kwargs.items() if isinstance(it, UUID)},
        )
        method = request.method or ""
        if method not in self.operations:
            self.http_method_not_allowed(request)
        scope = self.operations[method].scope
        if scope is not None and scope not in self.principal.scopes:
            raise InsufficientScope(scope)
        if method == "GET":
            self.count(take_if_possible(self.bucket("reads")))
            self.query = read_query(request, allowed=self.query_parameters)

    def finalize_response(
        self, request: Request, response: Response, *args: object, **kwargs: object
    ) -> Response:
        """The answer with its quota, and not to be kept by anybody between."""
        response.headers["Cache-Control"] = "no-store"
        if self.quota is not None and response.status_code not in WITHOUT_QUOTA:
            for name, value in quota_headers(self.quota).items():
                response.headers[name] = value
        if isinstance(response.data, dict):
            structlog.contextvars.bind_contextvars(result=response.data.get("message"))
        final: Response = super().finalize_response(request, response, *args, **kwargs)
        return final

    @property
    def principal(self) -> Principal:
        """The authenticated caller."""
        return cast("Principal", self.request.user)

    @property
    def range(self) -> JobRange:
        """The jobs within the caller's reach, by id and by group name."""
        return JobRange(
            namespace_id=self.principal.namespace_id,
            job_ids=self.principal.job_ids,
            group_names=self.principal.job_groups,
        )

    def require_job(self, job_id: UUID) -> None:
        """Raise ResourceNotPermitted outside the range, be there such a job or not.

        JobNotFound is for a token that names the job itself: it is deleted.
        """
        if is_within(self.range, job_id):
            return
        if job_id in self.principal.job_ids:
            raise JobNotFound
        raise ResourceNotPermitted

    def cursor(self, kind: str) -> Cursor:
        """The cursor of one list, good for this token alone."""
        principal = self.principal
        return Cursor(principal.namespace_id, principal.token_id, f"open.{kind}")

    def position(self, cursor: Cursor, shape: type[Position]) -> Position | None:
        """Where the list goes on, or None for its first page; raises Invalid."""
        if "cursor" not in self.query:
            return None
        return cursor.read(self.query["cursor"], shape)

    def bucket(self, name: str) -> Bucket:
        """The caller's bucket of `reads` or `triggers`."""
        return bucket_of(self.principal, name)

    def count(self, quota: Quota | None) -> None:
        """Keep the quota for the headers; raises RateLimited when it is used up."""
        self.quota = quota
        if quota is not None and not quota.is_kept:
            raise RateLimited(retry_after_ms=quota.reset_ms)


def bucket_of(principal: Principal, name: str) -> Bucket:
    """The bucket that counts the caller's `reads` or `triggers`."""
    own, default = {
        "reads": (principal.reads_per_minute, settings.OPEN_JOBS_READS_PER_MINUTE),
        "triggers": (
            principal.triggers_per_minute,
            settings.OPEN_JOBS_TRIGGERS_PER_MINUTE,
        ),
    }[name]
    return Bucket(name=name, subject=principal.key_id, limit=own or default)


def quota_headers(quota: Quota) -> dict[str, str]:
    """RateLimit and RateLimit-Policy (draft-ietf-httpapi-ratelimit-headers)."""
    bucket, window = quota.bucket, WINDOW_MS // 1000
    return {
        "RateLimit-Policy": f'"{bucket.name}";q={bucket.limit};w={window}',
        "RateLimit": f'"{bucket.name}";r={quota.remaining};t={quota.reset_seconds}',
    }
