"""Create a group of jobs."""

from uuid import UUID

from django.db import IntegrityError, transaction

from openapi_app.domain.errors import GroupNameTaken
from openapi_app.domain.job_rules import check_group_name
from openapi_app.models import JobGroup


def create_group(*, namespace_id: UUID, name: str) -> UUID:
    """The id of the new group. Raises InvalidJob, GroupNameTaken among them."""
    check_group_name(name)
    try:
        with transaction.atomic(durable=True):
            return JobGroup.objects.create(namespace_id=namespace_id, name=name).id
    except IntegrityError as error:
        if "openapi_job_group_name_unique" in str(error):
            raise GroupNameTaken from None
        raise
