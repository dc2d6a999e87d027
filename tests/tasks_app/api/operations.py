"""Every operation of /v1 with the permission it needs, and a scene to call it on."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from orbit.ids import new_id
from tasks_app.actions.claim_tasks import Assignment
from tasks_app.models import OperationAudit, Queue, Task
from tasks_app.models.review import ProposalRecord
from tests.builders import a_lease, a_queue, a_task, proposed
from tests.tasks_app.api.calls import (
    Answer,
    Caller,
    a_claim,
    a_retry,
    a_review,
    a_submit,
)


@dataclass(frozen=True, kw_only=True)
class Scene:
    """One task for each operation to succeed on."""

    queue: Queue
    waiting: Task
    uncertain: Task
    failed: Task
    undecided: Task
    proposed: ProposalRecord
    doomed: ProposalRecord
    lease: Assignment
    asked: Assignment
    audit: OperationAudit

    @property
    def report(self) -> dict[str, Any]:
        """A report on the lease as an entry of a batch."""
        return {
            "attempt_id": self.lease.attempt_id.hex,
            "kind": "succeed",
            "lease_token": self.lease.lease_token,
            "result": 1,
        }


@dataclass(frozen=True, kw_only=True)
class Operation:
    """One operation; `call` makes a valid call of it."""

    scope: str
    call: Callable[[Caller, Scene], Answer]
    status: int = 200
    on_one_thing: bool = True


def a_scene(*, queue: Queue | None = None) -> Scene:
    """Tasks in the states that the operations want."""
    queue = queue or a_queue()
    waiting = a_task(queue=queue)
    asked = a_lease(queue=queue)
    Task.objects.filter(id=asked.task.id).update(
        cancel_requested_at=asked.task.created_at
    )
    return Scene(
        queue=queue,
        waiting=waiting,
        uncertain=a_task(queue=queue, state="NEEDS_REVIEW"),
        failed=a_task(queue=queue, state="FAILED"),
        undecided=a_task(queue=queue, state="NEEDS_REVIEW"),
        proposed=proposed(a_task(queue=queue, state="NEEDS_REVIEW")).proposal,
        doomed=proposed(a_task(queue=queue, state="NEEDS_REVIEW")).proposal,
        lease=a_lease(queue=queue),
        asked=asked,
        audit=OperationAudit.objects.get(task_id=waiting.id),
    )


def _on_lease(verb: str, **members: Any) -> Callable[[Caller, Scene], Answer]:
    return lambda caller, scene: caller.post(
        f"attempts/{scene.lease.attempt_id.hex}:{verb}",
        {"lease_token": scene.lease.lease_token, **members},
        key=None,
    )


ERROR = {"code": "BROKEN", "message": "no"}

OPERATIONS = {
    "submit_task": Operation(
        scope="tasks:submit",
        status=201,
        call=lambda caller, scene: caller.post("tasks", a_submit(scene.queue)),
    ),
    "submit_tasks": Operation(
        scope="tasks:submit",
        on_one_thing=False,
        call=lambda caller, scene: caller.post(
            "tasks:batch",
            {"tasks": [a_submit(scene.queue, idempotency_key="k1")]},
            key=None,
        ),
    ),
    "list_tasks": Operation(
        scope="tasks:read",
        on_one_thing=False,
        call=lambda caller, _scene: caller.get("tasks"),
    ),
    "get_task": Operation(
        scope="tasks:read",
        call=lambda caller, scene: caller.get(f"tasks/{scene.waiting.id.hex}"),
    ),
    "list_attempts": Operation(
        scope="tasks:read",
        call=lambda caller, scene: caller.get(
            f"tasks/{scene.uncertain.id.hex}/attempts"
        ),
    ),
    "cancel_task": Operation(
        scope="tasks:cancel",
        call=lambda caller, scene: caller.post(f"tasks/{scene.waiting.id.hex}:cancel"),
    ),
    "review_task": Operation(
        scope="tasks:review",
        call=lambda caller, scene: caller.post(
            f"tasks/{scene.uncertain.id.hex}:review", a_review(scene.uncertain)
        ),
    ),
    "retry_task": Operation(
        scope="tasks:retry",
        status=201,
        call=lambda caller, scene: caller.post(
            f"tasks/{scene.failed.id.hex}:retry", a_retry(scene.failed)
        ),
    ),
    "propose_review": Operation(
        scope="tasks:review",
        status=201,
        call=lambda caller, scene: caller.post(
            f"tasks/{scene.undecided.id.hex}:propose-review", a_review(scene.undecided)
        ),
    ),
    "approve_review": Operation(
        scope="tasks:review",
        call=lambda caller, scene: caller.post(
            f"tasks/{scene.proposed.task_id.hex}:approve-review",
            {"proposal_id": scene.proposed.id.hex, "expected_revision": "3"},
        ),
    ),
    "withdraw_review": Operation(
        scope="tasks:review",
        call=lambda caller, scene: caller.post(
            f"tasks/{scene.doomed.task_id.hex}:withdraw-review",
            {"proposal_id": scene.doomed.id.hex},
        ),
    ),
    "list_proposals": Operation(
        scope="tasks:review",
        call=lambda caller, scene: caller.get(
            f"tasks/{scene.doomed.task_id.hex}/proposals"
        ),
    ),
    "get_recovery_slo": Operation(
        scope="tasks:audit:read",
        on_one_thing=False,
        call=lambda caller, _scene: caller.get("recovery/slo"),
    ),
    "start_probe": Operation(
        scope="tasks:review",
        status=201,
        call=lambda caller, scene: caller.post(f"tasks/{scene.uncertain.id.hex}:probe"),
    ),
    "preview_review": Operation(
        scope="tasks:review",
        call=lambda caller, scene: caller.post(
            f"tasks/{scene.uncertain.id.hex}:preview-review",
            a_review(scene.uncertain),
            key=None,
        ),
    ),
    "preview_retry": Operation(
        scope="tasks:retry",
        call=lambda caller, scene: caller.post(
            f"tasks/{scene.failed.id.hex}:preview-retry",
            a_retry(scene.failed),
            key=None,
        ),
    ),
    "get_dossier": Operation(
        scope="tasks:audit:read",
        call=lambda caller, scene: caller.get(
            f"tasks/{scene.uncertain.id.hex}/dossier"
        ),
    ),
    "get_lineage": Operation(
        scope="tasks:read",
        call=lambda caller, scene: caller.get(f"tasks/{scene.failed.id.hex}/lineage"),
    ),
    "list_contradictions": Operation(
        scope="tasks:audit:read",
        on_one_thing=False,
        call=lambda caller, _scene: caller.get("contradictions"),
    ),
    "look_up_receipt": Operation(
        scope="tasks:read",
        call=lambda caller, scene: caller.post(
            "receipts:look-up",
            {"operation": "task.review", "target_id": scene.uncertain.id.hex},
        ),
    ),
    "list_operations": Operation(
        scope="tasks:audit:read",
        call=lambda caller, scene: caller.get(
            f"tasks/{scene.waiting.id.hex}/operations"
        ),
    ),
    "get_operation": Operation(
        scope="tasks:audit:read",
        call=lambda caller, scene: caller.get(
            f"tasks/{scene.waiting.id.hex}/operations/{scene.audit.id.hex}"
        ),
    ),
    "claim_tasks": Operation(
        scope="tasks:work",
        call=lambda caller, scene: caller.post(
            f"queues/{scene.queue.id.hex}:claim", a_claim(), key=None
        ),
    ),
    "heartbeat": Operation(scope="tasks:work", call=_on_lease("heartbeat")),
    "succeed": Operation(scope="tasks:work", call=_on_lease("succeed", result=1)),
    "fail": Operation(
        scope="tasks:work", call=_on_lease("fail", error=ERROR, retryable=False)
    ),
    "unknown": Operation(scope="tasks:work", call=_on_lease("unknown")),
    "cancelled": Operation(
        scope="tasks:work",
        call=lambda caller, scene: caller.post(
            f"attempts/{scene.asked.attempt_id.hex}:cancelled",
            {"lease_token": scene.asked.lease_token},
            key=None,
        ),
    ),
    "report_attempts": Operation(
        scope="tasks:work",
        on_one_thing=False,
        call=lambda caller, scene: caller.post(
            "attempts:report", {"reports": [scene.report]}, key=None
        ),
    ),
    "list_events": Operation(
        scope="events:read",
        on_one_thing=False,
        call=lambda caller, _scene: caller.get("events"),
    ),
}


def elsewhere(scene: Scene) -> Scene:
    """The same calls on things that do not exist."""
    nothing = new_id()
    lease = scene.lease
    queue = Queue(id=nothing)
    ghost = Task(id=nothing, revision=3)
    missing = type(lease)(
        task=lease.task,
        attempt_id=nothing,
        attempt_number=1,
        lease_token=lease.lease_token,
        lease_expires_at=lease.lease_expires_at,
    )
    return Scene(
        queue=queue,
        waiting=ghost,
        uncertain=ghost,
        failed=ghost,
        undecided=ghost,
        proposed=scene.proposed._replace(task_id=nothing),
        doomed=scene.doomed._replace(task_id=nothing),
        lease=missing,
        asked=missing,
        audit=scene.audit,
    )
