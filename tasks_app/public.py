"""The door of the task engine: what other apps may ask of it."""

from tasks_app.actions.claim_tasks import Assignment, claim_tasks
from tasks_app.actions.open_gate import open_gate
from tasks_app.actions.open_task import OwnedTask, open_task
from tasks_app.actions.renew_lease import Renewal, renew_lease
from tasks_app.actions.report_attempts import report_attempts
from tasks_app.actions.submit_tasks import Submission, submit_tasks
from tasks_app.domain.access import ENGINE, Actor, ActorKind, Reach, signed_in
from tasks_app.domain.commands import (
    ClaimTasks,
    HandlerFilter,
    RetryPolicyIn,
    SubmitTask,
    WorkerIn,
)
from tasks_app.domain.errors import ApplicationFull, QueueFull
from tasks_app.domain.idempotency import Identity, identify
from tasks_app.domain.lifecycle import Failure, OwnerKind, RecoverySafety, State
from tasks_app.domain.maintenance import register_maintenance_pass
from tasks_app.domain.ownership import (
    Blocked,
    OwnerPolicy,
    Settled,
    WaitingTurn,
    register,
)
from tasks_app.domain.reports import Report, ReportKind
from tasks_app.domain.retry_policy import RetryPolicy
from tasks_app.models.statements.quota import patiently
from tasks_app.queries import (
    QueuePlace,
    TaskStanding,
    has_queue,
    queue_places,
    standings_of,
    unclaimed_executions,
)
from tasks_app.queries.probes import namespace_of, unclaimed_probes

register_owner_policy = register

__all__ = [
    "ENGINE",
    "Actor",
    "ActorKind",
    "ApplicationFull",
    "Assignment",
    "Blocked",
    "ClaimTasks",
    "Failure",
    "HandlerFilter",
    "Identity",
    "OwnedTask",
    "OwnerKind",
    "OwnerPolicy",
    "QueueFull",
    "QueuePlace",
    "Reach",
    "RecoverySafety",
    "Renewal",
    "Report",
    "ReportKind",
    "RetryPolicy",
    "RetryPolicyIn",
    "Settled",
    "State",
    "Submission",
    "SubmitTask",
    "TaskStanding",
    "WaitingTurn",
    "WorkerIn",
    "claim_tasks",
    "has_queue",
    "identify",
    "namespace_of",
    "open_gate",
    "open_task",
    "patiently",
    "queue_places",
    "register_maintenance_pass",
    "register_owner_policy",
    "renew_lease",
    "report_attempts",
    "signed_in",
    "standings_of",
    "submit_tasks",
    "unclaimed_executions",
    "unclaimed_probes",
]
