"""What the benchmarks call of Orbit in process: the one place that names its parts."""

import uuid
from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

import msgspec

from bench.orbit.place import Place
from bench.orbit.requests import retry_body, review_body, submission_body
from tasks_app.actions.claim_tasks import Assignment, claim_tasks
from tasks_app.actions.create_application import create_application
from tasks_app.actions.create_namespace import create_namespace
from tasks_app.actions.create_queue import create_queue as create_queue_within
from tasks_app.actions.report_attempts import report_attempts
from tasks_app.actions.retry_task import retry_task
from tasks_app.actions.review_task import review_task
from tasks_app.actions.submit_tasks import Submission, submit_tasks
from tasks_app.domain.access import Actor, ActorKind, Reach
from tasks_app.domain.commands import ClaimTasks, RetryTask, ReviewTask, SubmitTask
from tasks_app.domain.idempotency import identify
from tasks_app.domain.lifecycle import Failure
from tasks_app.domain.limits import QueueLimits
from tasks_app.domain.reports import Report, ReportKind
from tokens_app import public as tokens

__all__ = [
    "Engine",
    "create_application",
    "create_namespace",
    "create_queue",
    "issue_token",
]

SCOPES = [
    "tasks:submit",
    "tasks:read",
    "tasks:work",
    "tasks:cancel",
    "tasks:review",
    "tasks:retry",
    "tasks:audit:read",
]


def create_queue(
    *, namespace_id: UUID, application_id: UUID, name: str, max_outstanding: int
) -> UUID:
    """A queue without other limits than of what it holds."""
    return create_queue_within(
        application_id=application_id,
        name=name,
        limits=QueueLimits(max_outstanding=max_outstanding),
        reach=Reach(namespace_id=namespace_id, queue_ids=None),
    )


def issue_token(
    *, namespace_id: UUID, application_id: UUID, queue_ids: Sequence[UUID]
) -> tuple[UUID, str]:
    """The id and plain text of a token that may do everything on these queues."""
    issued = tokens.issue_token(
        grant=tokens.TokenGrant(
            name="bench",
            audience="TASKS",
            namespace_id=namespace_id,
            application_id=application_id,
            scopes=SCOPES,
            expires=timedelta(days=1),
            queue_ids=tuple(queue_ids),
        ),
        by=tokens.Actor(name="bench"),
    )
    return issued.token_id, issued.plaintext


class Engine:
    """The engine in this process, as one actor on one queue."""

    def __init__(self, place: Place, *, queue: int = 0) -> None:
        self.queue_id = UUID(place.queue_ids[queue])
        self.actor = Actor(id=UUID(place.actor_id), kind=ActorKind.TOKEN)
        self.reach = Reach(
            namespace_id=UUID(place.namespace_id),
            queue_ids=tuple(UUID(queue_id) for queue_id in place.queue_ids),
        )
        self.worker = {"name": "bench", "instance_id": uuid.uuid4().hex}

    def submit(self, count: int) -> list[UUID]:
        """Submit so many in one call; answers their ids."""
        body = msgspec.json.encode(submission_body(queue_id=self.queue_id.hex))
        command = msgspec.json.decode(body, type=SubmitTask)
        answers = submit_tasks(
            [
                Submission(
                    command=command,
                    identity=identify(key=uuid.uuid4().hex, content=body),
                )
                for _ in range(count)
            ],
            actor=self.actor,
            reach=self.reach,
        )
        for answer in answers:
            if isinstance(answer, Exception):
                raise answer
        return [
            answer.task.id for answer in answers if not isinstance(answer, Exception)
        ]

    def claim(self, count: int) -> list[Assignment]:
        """Claim up to so many."""
        command = msgspec.convert(
            {"worker": self.worker, "max_tasks": count, "lease_ms": 300_000}, ClaimTasks
        )
        return claim_tasks(
            command, queue_id=self.queue_id, actor=self.actor, reach=self.reach
        )

    def report(
        self, assignments: Sequence[Assignment], *, kind: str = "succeed"
    ) -> list[object]:
        """Report all of them in one call, each as `kind`."""
        failure = None if kind == "succeed" else Failure(code="LOST", message="Lost.")
        return list(
            report_attempts(
                [
                    Report(
                        attempt_id=assignment.attempt_id,
                        lease_token=assignment.lease_token,
                        kind=ReportKind(kind),
                        result='{"ok":true}' if kind == "succeed" else None,
                        failure=failure,
                    )
                    for assignment in assignments
                ],
                actor=self.actor,
                reach=self.reach,
            )
        )

    def review(self, task_id: UUID, *, revision: int) -> None:
        """Settle an uncertain task."""
        body = msgspec.json.encode(review_body(revision=revision))
        review_task(
            msgspec.json.decode(body, type=ReviewTask),
            task_id=task_id,
            identity=identify(key=uuid.uuid4().hex, content=body),
            actor=self.actor,
            reach=self.reach,
        )

    def retry(self, task_id: UUID, *, revision: int) -> None:
        """Run a failed task again as a new one."""
        body = msgspec.json.encode(retry_body(revision=revision))
        retry_task(
            msgspec.json.decode(body, type=RetryTask),
            task_id=task_id,
            identity=identify(key=uuid.uuid4().hex, content=body),
            actor=self.actor,
            reach=self.reach,
        )
