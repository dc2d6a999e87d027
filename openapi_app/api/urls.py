"""The table of contents of the open job API; nothing here ends with a slash."""

from uuid import UUID

from django.urls import path, register_converter

from openapi_app.api import document, executions, jobs, tokens


class OpenId:
    """32 lower-case hex in a path."""

    regex = "[0-9a-f]{32}"

    def to_python(self, value: str) -> UUID:
        """The identifier."""
        return UUID(value)

    def to_url(self, value: UUID) -> str:
        """Its written form."""
        return value.hex


register_converter(OpenId, "openid")

urlpatterns = [
    path("jobs", jobs.JobList.as_view()),
    path("jobs/<openid:job_id>", jobs.JobDetail.as_view()),
    path("jobs/<openid:job_id>/executions", executions.JobExecutions.as_view()),
    path("executions/<openid:execution_id>", executions.ExecutionDetail.as_view()),
    path("token", tokens.TokenDetail.as_view()),
    path("openapi.json", document.OpenAPIDocument.as_view()),
]
