"""A bare DRF application that writes the same rows through Django's ORM.

It authenticates by one query, decides nothing, validates nothing, and answers on
Orbit's paths: what someone would write first. Default Django and DRF settings.
"""

import hashlib
import json
import os
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.core.handlers.wsgi import WSGIHandler
from django.urls import path

from orbit import settings as product

DATABASE: dict[str, Any] = dict(product.DATABASES["default"])
# Django's own way of binding; only where the server is stays as it was.
DATABASE["OPTIONS"] = {
    name: value
    for name, value in DATABASE["OPTIONS"].items()
    if name in {"host", "port"}
}

settings.configure(
    SECRET_KEY=os.environ["ORBIT_SECRET_KEY"],
    ALLOWED_HOSTS=["127.0.0.1"],
    ROOT_URLCONF=__name__,
    DATABASES={"default": DATABASE},
    USE_TZ=True,
    INSTALLED_APPS=[
        "django.contrib.contenttypes",
        "django.contrib.auth",
        "django.contrib.sessions",
        "rest_framework",
        "orbit",
        "orbit.outbox",
        "tokens_app",
        "tasks_app",
        "django_celery_beat",
        "openapi_app",
    ],
    REST_FRAMEWORK={
        "DEFAULT_AUTHENTICATION_CLASSES": [],
        "DEFAULT_PERMISSION_CLASSES": [],
        "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
        "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
        "UNAUTHENTICATED_USER": None,
    },
    TOKEN_PEPPERS=product.TOKEN_PEPPERS,
    TOKEN_PEPPERS_FILE="",
    TOKEN_MAX_LIFETIME_DAYS=365,
    LOGGING={"version": 1},
)

import django  # noqa: E402 (settings come first)

django.setup()

from django.db import transaction  # noqa: E402
from django.db.models import F  # noqa: E402
from django.utils.timezone import now as wall_clock  # noqa: E402
from rest_framework.request import Request  # noqa: E402
from rest_framework.response import Response  # noqa: E402
from rest_framework.views import APIView  # noqa: E402

from orbit.outbox.models import ResultEvent  # noqa: E402
from tasks_app.domain.audit_chain import GENESIS  # noqa: E402
from tasks_app.models import (  # noqa: E402
    Attempt,
    OperationAudit,
    Permit,
    Queue,
    QuotaShare,
    Receipt,
    Task,
)
from tokens_app.models import ServiceAccountToken  # noqa: E402

SHARES = 16
KEY_ID = slice(len("Bearer fta_"), len("Bearer fta_") + 16)


class Act(APIView):
    """What the three have in common: one token query, one write of four rows."""

    def token(self, request: Request) -> ServiceAccountToken:
        """The caller, by one query."""
        key_id = request.headers["Authorization"][KEY_ID]
        found: ServiceAccountToken = ServiceAccountToken.objects.get(key_id=key_id)
        return found

    def body(self, request: Request) -> dict[str, Any]:
        """The parsed body."""
        found: dict[str, Any] = request.data  # type: ignore[assignment]
        return found

    def identity(self, request: Request) -> bytes:
        """The digest of the key."""
        key = request.headers["Idempotency-Key"]
        return hashlib.sha256(key.encode()).digest()

    def record(
        self, task: Task, *, operation: str, subject_id: UUID, key: bytes, actor: UUID
    ) -> UUID:
        """Receipt, audit and event of one act."""
        audit_id = self.announce(task, operation=operation, actor=actor)
        Receipt.objects.create(
            namespace_id=task.namespace_id,
            operation=operation,
            subject_id=subject_id,
            key_digest=key,
            content_digest=key,
            task_id=task.id,
            audit_id=audit_id,
            state=task.state,
            revision=task.revision,
            attempt_count=task.attempt_count,
            updated_at=task.updated_at,
            created_at=task.updated_at,
        )
        return audit_id

    def announce(self, task: Task, *, operation: str, actor: UUID) -> UUID:
        """Audit and event of one act; the task is to be saved after it."""
        audit = self.audit(
            task, operation=operation, actor=actor, after={"state": task.state}
        )
        ResultEvent.objects.create(
            namespace_id=task.namespace_id,
            queue_id=task.queue_id,
            task_id=task.id,
            revision=task.revision,
            kind="task.accepted",
            payload=f'{{"task_id":"{task.id}"}}',
            transaction_id=0,
            created_at=task.updated_at,
        )
        found: UUID = audit.id
        return found

    def audit(
        self, task: Task, *, operation: str, actor: UUID, after: dict[str, str]
    ) -> OperationAudit:
        """The next link of the task's chain, whose head moves on the task."""
        told = {
            "task_id": task.id.hex,
            "actor_id": actor.hex,
            "action": operation,
            "revision": task.revision,
            "after": after,
            "previous_hash": bytes(task.audit_head).hex(),
        }
        digest = hashlib.sha256(json.dumps(told, sort_keys=True).encode()).digest()
        audit = OperationAudit.objects.create(
            namespace_id=task.namespace_id,
            task_id=task.id,
            operation_id=task.id,
            actor_id=actor,
            actor_kind="TOKEN",
            action=operation,
            revision=task.revision,
            after=json.dumps(after),
            created_at=task.updated_at,
            sequence=task.audit_length + 1,
            previous_hash=task.audit_head,
            entry_hash=digest,
        )
        task.audit_length, task.audit_head = audit.sequence, digest
        return audit

    def move_quota(self, task: Task, *, by: int) -> None:
        """One unit of the application's and of the queue's quota."""
        number = os.getpid() % SHARES
        for scope in (task.application_id, task.queue_id):
            QuotaShare.objects.filter(scope_id=scope, number=number).update(
                available=F("available") + by
            )


class Submit(Act):
    """POST /v1/tasks."""

    def post(self, request: Request) -> Response:
        """Accept one task."""
        token, key, body = (
            self.token(request),
            self.identity(request),
            self.body(request),
        )
        with transaction.atomic():
            queue = Queue.objects.select_related("application").get(id=body["queue_id"])
            Receipt.objects.filter(
                namespace_id=queue.namespace_id,
                operation="task.submit",
                subject_id=queue.application_id,
                key_digest=key,
            ).first()
            task = new_task(queue, body, submitted_by=token.id)
            self.move_quota(task, by=-1)
            self.record(
                task,
                operation="task.submit",
                subject_id=queue.application_id,
                key=key,
                actor=token.id,
            )
            task.save(force_insert=True)
        return Response({"data": {"task": shape(task)}}, status=201)


class Review(Act):
    """POST /v1/tasks/{id}:review."""

    def post(self, request: Request, task_id: str) -> Response:
        """Settle the task."""
        token, key = self.token(request), self.identity(request)
        with transaction.atomic():
            task = locked(task_id, key=key, operation="task.review")
            task.state = self.body(request)["outcome"]
            task.revision += 1
            task.effect_uncertain = False
            task.completed_at = task.updated_at = wall_clock()
            self.move_quota(task, by=1)
            audit_id = self.record(
                task,
                operation="task.review",
                subject_id=task.id,
                key=key,
                actor=token.id,
            )
            task.save()  # the database wants its audit first
        return Response({"data": {"task": shape(task), "audit_id": audit_id.hex}})


class Retry(Act):
    """POST /v1/tasks/{id}:retry."""

    def post(self, request: Request, task_id: str) -> Response:
        """Make the successor."""
        token, key = self.token(request), self.identity(request)
        with transaction.atomic():
            source = locked(task_id, key=key, operation="task.retry")
            Task.objects.filter(retry_of=source.id).exists()
            queue = Queue.objects.select_related("application").get(id=source.queue_id)
            body = {
                "handler": source.handler,
                "handler_version": source.handler_version,
                "payload_version": source.payload_version,
                "payload": source.payload,
                "task_timeout_ms": self.body(request)["task_timeout_ms"],
            }
            task = new_task(queue, body, submitted_by=token.id)
            task.retry_of = source.id
            self.move_quota(task, by=-1)
            self.record(
                task,
                operation="task.retry",
                subject_id=source.id,
                key=key,
                actor=token.id,
            )
            task.save(force_insert=True)
            source.updated_at = task.updated_at
            self.audit(
                source,
                operation="task.retry",
                actor=token.id,
                after={"retry_task_id": task.id.hex},
            )
            source.save(update_fields=["audit_length", "audit_head"])
        return Response({"data": {"task": shape(task)}}, status=201)


def locked(task_id: str, *, key: bytes, operation: str) -> Task:
    """The task under its lock, after the questions that a decision asks."""
    task: Task = Task.objects.select_for_update().get(id=task_id)
    Receipt.objects.filter(
        namespace_id=task.namespace_id,
        operation=operation,
        subject_id=task.id,
        key_digest=key,
    ).first()
    Attempt.objects.filter(task_id=task.id, outcome="ACTIVE").exists()
    Permit.objects.filter(task_id=task.id).exists()
    return task


def new_task(queue: Queue, body: dict[str, Any], *, submitted_by: UUID) -> Task:
    """A task as the body wants it."""
    now = wall_clock()
    timeout = timedelta(milliseconds=int(str(body["task_timeout_ms"])))
    return Task(
        namespace_id=queue.namespace_id,
        application_id=queue.application_id,
        queue_id=queue.id,
        owner_kind="STANDALONE",
        is_gated=False,
        state="WAITING",
        revision=1,
        handler=body["handler"],
        handler_version=body["handler_version"],
        payload_version=body["payload_version"],
        payload=str(body["payload"]),
        priority=0,
        recovery_safety="RECONCILE_ONLY",
        max_attempts=3,
        initial_delay_ms=0,
        max_delay_ms=0,
        attempt_timeout_ms=1000,
        available_at=now,
        due_at=now,
        is_due=True,
        deadline_at=now + timeout,
        attempt_count=0,
        lease_seq=0,
        effect_uncertain=False,
        created_at=now,
        updated_at=now,
        submitted_by=submitted_by,
        audit_length=0,
        audit_head=GENESIS,
    )


def shape(task: Task) -> dict[str, object]:
    """A task on the wire."""
    return {
        "id": task.id.hex,
        "queue_id": UUID(str(task.queue_id)).hex,
        "state": task.state,
        "revision": str(task.revision),
        "handler": task.handler,
        "payload": task.payload,
        "created_at": task.created_at,
    }


class Live(APIView):
    """GET /livez."""

    def get(self, _request: Request) -> Response:
        """Alive."""
        return Response({"ok": True})


urlpatterns = [
    path("livez", Live.as_view()),
    path("v1/tasks", Submit.as_view()),
    path("v1/tasks/<str:task_id>:review", Review.as_view()),
    path("v1/tasks/<str:task_id>:retry", Retry.as_view()),
]
application = WSGIHandler()
