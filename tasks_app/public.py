"""The door of the task engine: what other apps may ask of it."""

from tasks_app.actions.claim_tasks import Assignment, claim_tasks
from tasks_app.actions.renew_lease import Renewal, renew_lease
from tasks_app.actions.report_attempts import report_attempts
from tasks_app.actions.submit_tasks import Submission, submit_tasks
from tasks_app.domain.access import ENGINE, Actor, ActorKind, Reach
from tasks_app.domain.commands import (
    ClaimTasks,
    HandlerFilter,
    RetryPolicyIn,
    SubmitTask,
    WorkerIn,
)
from tasks_app.domain.idempotency import Identity, identify
from tasks_app.domain.lifecycle import Failure, OwnerKind, State
from tasks_app.domain.ownership import OwnerPolicy, register
from tasks_app.domain.reports import Report, ReportKind

register_owner_policy = register

__all__ = [
    "ENGINE",
    "Actor",
    "ActorKind",
    "Assignment",
    "ClaimTasks",
    "Failure",
    "HandlerFilter",
    "Identity",
    "OwnerKind",
    "OwnerPolicy",
    "Reach",
    "Renewal",
    "Report",
    "ReportKind",
    "RetryPolicyIn",
    "State",
    "Submission",
    "SubmitTask",
    "WorkerIn",
    "claim_tasks",
    "identify",
    "register_owner_policy",
    "renew_lease",
    "report_attempts",
    "submit_tasks",
]
