"""Who decides."""

import pytest
from django.contrib.auth.models import Permission, User


@pytest.fixture
def ada():
    """Somebody who may review."""
    user = User.objects.create_user("ada", is_staff=True)
    user.user_permissions.add(Permission.objects.get(codename="review_task"))
    return user
