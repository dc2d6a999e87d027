"""Create a namespace, the tenant that everything else belongs to."""

from uuid import UUID

from django.db import transaction

from tasks_app.models import Namespace


def create_namespace(*, name: str, number: int) -> UUID:
    """The id of the new namespace. Raises IntegrityError when it is taken."""
    with transaction.atomic(durable=True):
        return Namespace.objects.create(name=name, number=number).id
