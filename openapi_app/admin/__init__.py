"""Jobs, their groups and their executions in the admin."""

from openapi_app.admin.executions import JobExecutionAdmin
from openapi_app.admin.groups import JobGroupAdmin
from openapi_app.admin.jobs import JobAdmin

__all__ = ["JobAdmin", "JobExecutionAdmin", "JobGroupAdmin"]
