"""The table of contents of the open job API; nothing here ends with a slash."""

from django.urls import path

import orbit.http.hex_id  # noqa: F401 - registers the converter of ids
from openapi_app.api import document, executions, jobs, tokens

urlpatterns = [
    path("jobs", jobs.JobList.as_view()),
    path("jobs/<hexid:job_id>", jobs.JobDetail.as_view()),
    path("jobs/<hexid:job_id>/executions", executions.JobExecutions.as_view()),
    path("executions/<hexid:execution_id>", executions.ExecutionDetail.as_view()),
    path("token", tokens.TokenDetail.as_view()),
    path("openapi.json", document.OpenAPIDocument.as_view()),
]
