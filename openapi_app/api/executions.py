"""Executions within a token's range: start one, find it again, follow it."""

from uuid import UUID

import msgspec
import structlog
from rest_framework.request import Request
from rest_framework.response import Response

from openapi_app import queries
from openapi_app.actions.trigger_job import Triggered, TriggerJob, trigger_job
from openapi_app.api import operations
from openapi_app.api.envelope import BEGAN, answer
from openapi_app.api.shapes import execution_shape
from openapi_app.api.views import OpenAPIView
from openapi_app.api.waiting import SETTLED, watch
from openapi_app.domain.idempotency import TriggerIdentity, read_key
from openapi_app.domain.refusals import KeyInProgress, UnknownField
from openapi_app.domain.summaries import ExecutionSummary
from openapi_app.gateways.celery import send_execution
from openapi_app.gateways.key_lock import admit, holding
from openapi_app.models.key_claims import find_claim
from openapi_app.models.reach import task_of
from orbit.errors import Invalid
from orbit.http.paging import page, read_limit, read_query, read_whole
from orbit.http.request_id import request_id_of
from orbit.ids import parse_id

KEY_HEADER = "HTTP_IDEMPOTENCY_KEY"
MAX_WAIT_SECONDS = 20


class JobExecutions(OpenAPIView):
    """GET and POST /openapi/v1/jobs/{job_id}/executions."""

    operations = {"GET": operations.LIST_EXECUTIONS, "POST": operations.TRIGGER_JOB}
    query_parameters = ("page_size", "cursor")

    def get(self, request: Request, job_id: UUID) -> Response:
        """Newest first; with an Idempotency-Key only what that key started."""
        limit = read_limit(self.query, name="page_size")
        cursor = self.cursor(f"executions.{job_id.hex}")
        after = self.position(cursor, queries.Position)
        self.require_job(job_id)
        found = queries.executions_of(
            self.range, job_id, after=after, limit=limit, only=self.wanted(job_id)
        )
        data = page(
            found,
            limit,
            lambda row: cursor.sign((row.accepted_at, row.id)),
            item=execution_shape,
        )
        return answer(request, data)

    def post(self, request: Request, job_id: UUID) -> Response:
        """Start the job once for this key: 202, whether now or before."""
        self.require_job(job_id)
        identity = self.identity(job_id)
        _check_bare(request)
        admission = admit(bucket=self.bucket("triggers"), digest=identity.lock_digest)
        self.count(admission.quota)
        with holding(admission) as is_held:
            triggered = self.trigger(identity, is_held=is_held)
        if triggered.is_ready:
            send_execution(triggered.execution_id)
        return self.accepted(triggered)

    def identity(self, job_id: UUID) -> TriggerIdentity:
        """Token, job and key of this call; raises KeyMissing or KeyInvalid."""
        return TriggerIdentity(
            token_id=self.principal.token_id,
            job_id=job_id,
            key_digest=read_key(self.request.META.get(KEY_HEADER)),
        )

    def wanted(self, job_id: UUID) -> list[UUID] | None:
        """Without a key every execution, else the one that it stands for, if any."""
        if KEY_HEADER not in self.request.META:
            return None
        started = find_claim(self.identity(job_id)).execution_id
        return [] if started is None else [started]

    def trigger(self, identity: TriggerIdentity, *, is_held: bool) -> Triggered:
        """What the key stands for, from now on at the latest; raises KeyInProgress."""
        if not is_held:
            raise KeyInProgress
        # From here on a lost answer may hide a commit.
        self.request.META[BEGAN] = True
        return trigger_job(
            TriggerJob(
                identity=identity,
                key_id=self.principal.key_id,
                caller=self.principal.name,
                request_id=parse_id(request_id_of(self.request)),
            )
        )

    def accepted(self, triggered: Triggered) -> Response:
        """The execution in its present state, and where to follow it."""
        structlog.contextvars.bind_contextvars(
            execution_id=triggered.execution_id.hex, replayed=triggered.is_replay
        )
        execution = triggered.accepted or queries.execution_within(
            self.range, triggered.execution_id
        )
        return answer(
            self.request,
            execution_shape(execution),
            status=202,
            headers={
                "Location": f"/openapi/v1/executions/{execution.id.hex}",
                "Idempotency-Replayed": "true" if triggered.is_replay else "false",
            },
        )


class ExecutionDetail(OpenAPIView):
    """GET /openapi/v1/executions/{execution_id}."""

    operations = {"GET": operations.GET_EXECUTION}
    query_parameters = ("wait_seconds",)

    def get(self, request: Request, execution_id: UUID) -> Response:
        """Its present state; with `wait_seconds` as soon as it is settled."""
        seconds = read_whole(
            self.query, name="wait_seconds", default=0, low=0, high=MAX_WAIT_SECONDS
        )
        execution = queries.execution_within(self.range, execution_id)
        if seconds and execution.state not in SETTLED:
            execution = self.awaited(execution, seconds=seconds)
        return answer(request, execution_shape(execution))

    def awaited(self, execution: ExecutionSummary, *, seconds: int) -> ExecutionSummary:
        """The execution when it is settled or the time is up."""
        found = task_of(execution.id)
        if found is not None and found.task_id is not None:
            watch.wait(found.task_id, seconds=seconds)
        return queries.execution_within(self.range, execution.id)


def _check_bare(request: Request) -> None:
    """Refuse every query parameter and every member of the body, by its name."""
    read_query(request, allowed=())
    body: object = request.data
    if not isinstance(body, bytes):
        return  # there is none
    members = msgspec.json.decode(body)
    if not isinstance(members, dict):
        raise Invalid("Send an empty body or {}.")
    for name in members:
        raise UnknownField(name[:100])
