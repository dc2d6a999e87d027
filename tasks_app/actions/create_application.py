"""Create an application with the shares of its quota."""

from uuid import UUID

from django.db import transaction

from tasks_app.models import Application
from tasks_app.models.statements.quota import open_scope


def create_application(*, namespace_id: UUID, name: str, max_outstanding: int) -> UUID:
    """The id of the new application. Raises IntegrityError when the name is taken."""
    with transaction.atomic(durable=True):
        application = Application.objects.create(
            namespace_id=namespace_id, name=name, max_outstanding=max_outstanding
        )
        open_scope(scope=application.id, limit=max_outstanding)
        return application.id
