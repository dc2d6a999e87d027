"""The worker: takes tasks, keeps their leases, and tells what became of each."""

from orbit_sdk.worker.context import Context
from orbit_sdk.worker.loop import Worker, WorkerOptions
from orbit_sdk.worker.probe import Finding, Suspect, SuspectAttempt
from orbit_sdk.worker.verdict import (
    Cancelled,
    LeaseLost,
    OutcomeUnknown,
    RetryableError,
)

__all__ = [
    "Cancelled",
    "Context",
    "Finding",
    "LeaseLost",
    "OutcomeUnknown",
    "RetryableError",
    "Suspect",
    "SuspectAttempt",
    "Worker",
    "WorkerOptions",
]
