"""A bare DRF view that starts a job: the same rows through the ORM, one Redis lock."""

import os
from datetime import timedelta
from uuid import UUID

import redis
from django.conf import settings
from django.core.handlers.wsgi import WSGIHandler
from django.db import transaction
from django.urls import path
from rest_framework.request import Request
from rest_framework.response import Response

from bench.bare import Act, Live, new_task
from openapi_app.models import Job, JobExecution
from openapi_app.models.idempotency_record import IdempotencyRecord
from orbit.ids import new_id
from tasks_app.models import Queue, Task
from tokens_app.models import ServiceAccountToken

LEASE_MS = 2_500
REDIS = redis.Redis.from_url(os.environ["REDIS_URL"])


class Trigger(Act):
    """POST /openapi/v1/jobs/{id}/executions."""

    def post(self, request: Request, job_id: str) -> Response:
        """Start the job once for its key."""
        token, key = self.token(request), self.identity(request)
        REDIS.set(f"bare:{key.hex()}", 1, nx=True, px=LEASE_MS)
        with transaction.atomic():
            known = IdempotencyRecord.objects.filter(
                token_id=token.id, job_id=job_id, key_digest=key
            ).first()
            execution = (
                JobExecution.objects.get(id=known.execution_id)
                if known
                else self.start(UUID(job_id), token=token, key=key)
            )
        return Response({"data": {"id": execution.id.hex}}, status=202)

    def start(
        self, job_id: UUID, *, token: ServiceAccountToken, key: bytes
    ) -> JobExecution:
        """A new execution with its task, and what the key stands for."""
        job = Job.objects.select_related("group").get(id=job_id)
        queue = Queue.objects.select_related("application").get(id=job.queue_id)
        task = task_of(job, queue, submitted_by=token.id)
        self.move_quota(task, by=-1)
        self.announce(task, operation="task.open", actor=token.id)
        task.save(force_insert=True)
        execution = JobExecution.objects.create(
            id=task.owner_id,
            namespace_id=job.namespace_id,
            job=job,
            source="OPEN_API",
            task_id=task.id,
            token_id=token.id,
            key_id=token.key_id,
            accepted_at=task.created_at,
        )
        IdempotencyRecord.objects.create(
            namespace_id=job.namespace_id,
            token_id=token.id,
            job_id=job.id,
            key_digest=key,
            content_digest=key,
            execution_id=execution.id,
            created_at=task.created_at,
            expires_at=task.created_at + timedelta(days=1),
        )
        return execution


def task_of(job: Job, queue: Queue, *, submitted_by: UUID) -> Task:
    """The task of a new execution."""
    body = {
        "handler": job.handler,
        "handler_version": "v1",
        "payload_version": "v1",
        "payload": job.parameters,
        "task_timeout_ms": job.task_timeout_ms,
    }
    task = new_task(queue, body, submitted_by=submitted_by)
    task.owner_kind, task.owner_id = "SCHEDULE", new_id()
    return task


urlpatterns = [
    path("livez", Live.as_view()),
    path("openapi/v1/jobs/<str:job_id>/executions", Trigger.as_view()),
]
settings.ROOT_URLCONF = __name__
application = WSGIHandler()
