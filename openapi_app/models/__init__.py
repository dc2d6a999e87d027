"""The tables of jobs, executions and trigger idempotency."""

from openapi_app.models.execution import JobExecution
from openapi_app.models.idempotency_record import IdempotencyRecord
from openapi_app.models.job import Job, JobGroup

__all__ = ["IdempotencyRecord", "Job", "JobExecution", "JobGroup"]
