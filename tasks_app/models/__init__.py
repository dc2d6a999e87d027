"""The tables of the engine."""

from tasks_app.models.attempt import Attempt
from tasks_app.models.contradiction import Contradiction
from tasks_app.models.evidence import Evidence
from tasks_app.models.inbox_view import InboxView
from tasks_app.models.namespace import Application, Namespace
from tasks_app.models.operation_audit import OperationAudit
from tasks_app.models.permit import Permit
from tasks_app.models.proposal import ReviewDecision, ReviewProposal
from tasks_app.models.queue import Queue, QueueThrottle, QuotaShare
from tasks_app.models.receipt import Receipt
from tasks_app.models.review_batch import (
    ReviewBatch,
    ReviewBatchEvent,
    ReviewBatchItem,
)
from tasks_app.models.task import Task

__all__ = [
    "Application",
    "Attempt",
    "Contradiction",
    "Evidence",
    "InboxView",
    "Namespace",
    "OperationAudit",
    "Permit",
    "Queue",
    "QueueThrottle",
    "QuotaShare",
    "Receipt",
    "ReviewBatch",
    "ReviewBatchEvent",
    "ReviewBatchItem",
    "ReviewDecision",
    "ReviewProposal",
    "Task",
]
